"""A compiler that gets two options of ArgMax wrong, each for itself, TopK whatever its options are, and QuantizeLinear
unless scale and zero point are both constants."""

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
    enter("run")
    evaluator = ReferenceEvaluator(model)
    found = evaluator.run(None, dict(job.inputs))
    for node in model.graph.node:
        given = {attribute.name: attribute.i for attribute in node.attribute}
        wrong = given.get("select_last_index") == 1 or given.get("axis") == 1
        wrong = wrong or (node.op_type == "Clip" and len(node.input) == 3 and node.input[2])
        wrong = wrong or (node.op_type == "QuantizeLinear" and not job.inputs.keys().isdisjoint(node.input[1:]))
        if wrong or node.op_type == "TopK":
            found = [value + 1 for value in found]
    return list(zip(evaluator.output_names, found, strict=True))


def converters(operators):
    return [f"convert_{name.lower()}" for _, name, _ in operators]
