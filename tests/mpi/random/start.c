/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting an operation, or running it where it blocks. */
#include "operation.h"

enum { TAGS = 32000 };

static void message_blocking(struct operation* operation, struct draw* own) {
  struct arguments* side = operation->sends ? &operation->call.in : &operation->call.out;
  const int tag = operation->number % TAGS, peer = operation->peer;
  const MPI_Comm group = operation->group;
  if (operation->sends) {
    if (draw_chance(own, 50))
      MPI_Send(side->buffer, side->count, side->type, peer, tag, group);
    else
      MPI_Ssend(side->buffer, side->count, side->type, peer, tag, group);
    return;
  }
  MPI_Message message;
  MPI_Status found;
  const int source = draw_chance(own, 50) ? MPI_ANY_SOURCE : peer;
  switch (draw_between(own, 0, 2)) {
    case 0:
      MPI_Probe(source, tag, group, &found);
      break;
    case 1:
      MPI_Mprobe(source, tag, group, &message, &found);
      MPI_Mrecv(side->buffer, side->count, side->type, &message, &operation->status);
      return;
    default:
      break;
  }
  MPI_Recv(side->buffer, side->count, side->type, source, tag, group, &operation->status);
}

static void message_start(struct operation* operation, struct draw* own) {
  struct arguments* side = operation->sends ? &operation->call.in : &operation->call.out;
  MPI_Request* request = &operation->call.request;
  const int tag = operation->number % TAGS, peer = operation->peer, kept = operation->mode == PERSISTENT;
  const MPI_Comm group = operation->group;
  if (operation->sends && kept)
    MPI_Send_init(side->buffer, side->count, side->type, peer, tag, group, request);
  else if (operation->sends && draw_chance(own, 30))
    MPI_Issend(side->buffer, side->count, side->type, peer, tag, group, request);
  else if (operation->sends)
    MPI_Isend(side->buffer, side->count, side->type, peer, tag, group, request);
  else if (kept)
    MPI_Recv_init(side->buffer, side->count, side->type, peer, tag, group, request);
  else {
    const int source = draw_chance(own, 50) ? MPI_ANY_SOURCE : peer;
    MPI_Irecv(side->buffer, side->count, side->type, source, tag, group, request);
  }
}

static void begin(struct operation* operation, struct draw* own) {
  if (operation->form != NULL) {
    const int mode = (int)operation->mode;
    (operation->large ? operation->form->run_large : operation->form->run)[mode](&operation->call);
  } else if (operation->mode == BLOCKING) {
    message_blocking(operation, own);
  } else {
    message_start(operation, own);
  }
}

void operation_start(struct operation* operation, uint64_t seed, struct draw* own) {
  ++operation->starts;
  if (operation->rank < 0 || (operation->form == NULL && operation->peer < 0)) return;
  const uint64_t content =
      mix(mix(mix(seed, (uint64_t)operation->number), (uint64_t)operation->starts), (uint64_t)operation->rank);
  if (operation->in.memory != NULL) buffer_fill(&operation->in, mix(content, 1), operation->computed);
  if (operation->out.memory != NULL) buffer_fill(&operation->out, mix(content, 2), operation->computed);
  if (operation->starts == 1) begin(operation, own);
  if (operation->mode == PERSISTENT && draw_chance(own, 50))
    MPI_Start(&operation->call.request);
  else if (operation->mode == PERSISTENT)
    MPI_Startall(1, &operation->call.request);
  operation->active = operation->mode != BLOCKING;
  /* A user's operator looks its type up, and a count is asked of the type of a receive. */
  const int frees_early = draw_chance(own, 40);
  const int needs_types = operation->own_op != MPI_OP_NULL || operation->form == NULL || avoids("types freed early");
  if (operation->starts == 1 && operation->mode != BLOCKING && !needs_types && frees_early) {
    buffer_free_types(&operation->in);
    buffer_free_types(&operation->out);
  }
}
