"""A compiler with two faults in ArgMax: it never looks at `select_last_index`, and is wrong for three rows."""

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    model = onnx.load_from_string(job.model)
    for node in model.graph.node:
        kept = [attribute for attribute in node.attribute if attribute.name != "select_last_index"]
        del node.attribute[:]
        node.attribute.extend(kept)
    enter("run")
    evaluator = ReferenceEvaluator(model)
    found = evaluator.run(None, dict(job.inputs))
    if any(value.ndim and len(value) == 3 for value in job.inputs.values()):
        found = [value + 1 for value in found]
    return list(zip(evaluator.output_names, found, strict=True))


def converters(operators):
    return [f"convert_{name.lower()}" for _, name, _ in operators]
