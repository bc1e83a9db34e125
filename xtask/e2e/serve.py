"""Serves a model on loopback until its input ends.

Usage: serve.py MODEL.gguf TOKENS ANSWER THREADS

Prints one line, the address, when the model is loaded and answers. Ending with
the input means that it never outlives whoever started it, however that ended.
"""

import os
import sys

import xllamacpp


def main() -> None:
    model, (window, answer, threads) = sys.argv[1], map(int, sys.argv[2:5])
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {os.path.basename(model)}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = window
    params.n_parallel = 1
    # What a request may be answered with when it does not say.
    params.n_predict = answer
    # An overflow is to be an error; shifting would drop the oldest tokens in
    # the middle of an answer and tell nobody.
    params.ctx_shift = False
    params.sampling.seed = 1
    params.use_jinja = True
    params.warmup = False
    params.ui = False
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # Nothing is worth waiting for: a request that is still answered has nobody
    # left to read it.
    os._exit(0)


if __name__ == "__main__":
    main()
