"""Backends: one file per compiler. The file name is the registry entry; there is no list to edit.

A backend file runs inside the worker process, possibly under another interpreter that has only
numpy and that one compiler. It may import the standard library, numpy, `fuzz.wire`, its compiler,
and nothing else. It defines:

``PACKAGES``   tuple of distribution names; the first one's version is the backend's version.
``KINDS``      tuple of the case kinds it takes: ``"onnx"``, ``"instance"``, ``"keras"``.
``OPTIONS``    dict: option name -> tuple of allowed values, the default first; ``"*"`` among them
               stands for any text. These mean the same in every backend that has them:
               ``show`` (``outputs``; ``operators``: instead of running an operator instance, the aten
               operators that the frontend really meets in it, since an api's own name does not tell;
               ``passes``: instead of results, the passes that the case went through, in order;
               ``declared``: what the frontend says of each output before anything is compiled, such as
               ``float32[2,?]``, ``?`` where it does not know; ``retyping``: the passes after which that is
               otherwise; each comes as one output, an array of strings), ``disable`` (names of passes,
               with commas), ``stop`` (how far into the compiler a case goes) and ``part`` (``upto 3``,
               ``only 3``: of an operator instance, see fuzz/instance_parts.py; the reference's
               ``show=parts`` lists them). ``rule`` is the judge's, not the backend's: how values are
               compared (``chebyshev``, ``ratio``; fuzz/oracles/differential.py).
``warm()``     imports everything the backend needs. Called once before workers are forked, so it
               must neither compile nor run anything (a warm parent hangs its children).
``devices()``  list of device names, e.g. ``["CPU"]``. Raises if the compiler cannot work here; the
               message is shown to the user as the reason.
``execute(job, enter)``  runs `fuzz.wire.Job` and returns a list of ``(name, value)`` outputs.
               It calls ``enter("convert")``, ``enter("compile")``, ``enter("run")`` as it goes on
               (it starts in ``"load"``), so that a crash is known by its stage. Exceptions are
               simply let through.

Optional:

``warm_instance()``  imports what only operator instances need (torch, 1 s). Instances then get a
               parent process of their own, so that models do not pay for it.
``warm_keras()``  the same for Keras layers; where there is an option called ``keras``, ``warm_keras_VALUE()`` for
               each of its values.
``UNCOMPILED``  options under which a case runs without the compiler, on the library that it compiles for. Where
               that differs from the reference, two libraries differ, and a wrong result is not blamed on the compiler.
``PACKAGES_WITH``, ``UNCOMPILED_WITH``  dicts: ``"option=value"`` -> what stands for PACKAGES or UNCOMPILED under that
               option. The packages may then live in an environment of their own, GRAPHWARDEN_PYTHON_VALUE.
``ANOTHER_WAY``  dict: ``"option=value"`` of an option called like a kind -> options by which the compiler is given the
               same case on another way. A wrong result that does not come on that way, too, is blamed on nobody.
``CARRIED``  dict: every dtype that the compiler takes -> the dtype in which it holds it, as ``"int64": "int32"``. Wrong
               values are excused where a value of the reference has another dtype, or does not survive that.
``REWRITES``  dict: an option by which a case is rewritten to one that means the same, before it is compiled -> its
               value that rewrites nothing. A failure that comes without the rewriting as well is none under it.
``ON_REQUEST``  True where a hunt tries the backend only if it is named.
``VARIANTS``  tuple of option dicts that a hunt tries by default; ``({},)`` when left out.
``reproduce(kind, options, inputs, outputs)``  called in the parent: the lines of a reproducer script that use
               the compiler as its maintainers would. `inputs` and `outputs` are the dtypes of the tensors, in
               order (`outputs` is empty when no result is known). ValueError where that cannot be written
               shortly. For ``"onnx"`` the lines may use ``model`` (ModelProto) and ``inputs`` (name -> numpy
               array), for ``"instance"`` ``module`` and ``args``; they set ``actual``, a numpy array for one
               output and a list of them for several. For ``"keras"`` they may use ``layer``, ``inputs`` and ``call``,
               which takes the inputs by name. Without it no report can be drafted.
``spent()``    whether this process can run nothing more, as after a fault on a GPU: its worker is replaced, and what
               was answered together with the fault is run again.
``blame(error, job)``  called while an exception that `execute` let through is being handled;
               returns ``(operator, conversion_function)``, each ``""`` when unknown.
``converters(operators)``  list of ``(domain, op_type, opset)`` (ONNX) or ``("torch", operator, 0)``,
               the operator being one that ``show=operators`` names -> list of the names of the functions
               that convert them, ``""`` when unknown.
``newest_opset()``  the newest operator set of ONNX's default domain that this build knows: what needs a newer
               one is not supported, whether the compiler says so or not. Left out: models are taken as they are.

Rules that recognise an honest "unsupported" are data: ``data/unsupported/<backend>.toml``.
A backend file around a compiler that is registered refuses as that one does: its first package is the same.
"""
