/* lode/lode.h - everything: language models on CPU, NVIDIA GPUs and Apple GPUs. */
#ifndef LODE_LODE_H
#define LODE_LODE_H
#include "base.h"
#include "tensor.h"
#include "quant.h"
#include "gguf.h"
#include "graph.h"
#include "backend.h"
#include "plan.h"
#include "model.h"
#include "session.h"
#include "tok.h"
#include "chat.h"
#include "sample.h"
#include "sample.h"
#endif
