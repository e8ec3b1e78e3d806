"""A compiler with planted values: the reference evaluator, but Tanh is a half, Sin off by one, Relu 99 at most."""

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}

SPOILED = {
    "Tanh": lambda value: value * 0 + 0.5,
    "Sin": lambda value: value + 1,
    "Relu": lambda value: value.clip(max=99),
}


def warm():
    import onnx.reference.ops.op_abs  # noqa: F401


def devices():
    return ["CPU"]


def execute(job, enter):
    import onnx
    from onnx.reference import ReferenceEvaluator

    enter("convert")
    model = onnx.load_from_string(job.model)
    evaluator = ReferenceEvaluator(model)
    enter("run")
    found = evaluator.run(None, dict(job.inputs))
    spoil = SPOILED[model.graph.node[0].op_type]
    return list(zip(evaluator.output_names, map(spoil, found), strict=True))
