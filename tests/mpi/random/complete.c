/* SPDX-License-Identifier: BSD-3-Clause */
#include "complete.h"

#include <sched.h>

enum { EACH, LOOK = 5 };

/* The requests as MPI takes them; an entry without an operation is a null request. */
struct list {
  int count;
  struct operation* operations[2 * MOST_OPERATIONS];
  MPI_Request requests[2 * MOST_OPERATIONS];
  MPI_Status statuses[2 * MOST_OPERATIONS];
};

static int is_open(const struct list* list) {
  for (int i = 0; i < list->count; ++i) {
    if (list->operations[i] != NULL && list->operations[i]->active) return 1;
  }
  return 0;
}

static void done(struct list* list, int index, const MPI_Status* status) {
  struct operation* operation = list->operations[index];
  if (operation == NULL) return;
  operation->call.request = list->requests[index];
  operation->status = *status;
  operation->active = 0;
}

/* Test does not give the processor away, and the other ranks may need it. */
static void again(int flag) {
  if (!flag) sched_yield();
}

static void each(struct list* list, struct draw* own, int how) {
  for (int i = 0; i < list->count; ++i) {
    const int index = (i + how) % list->count;
    if (list->operations[index] == NULL || !list->operations[index]->active) continue;
    MPI_Status status;
    int flag = 0;
    if (draw_chance(own, 40)) {
      MPI_Wait(&list->requests[index], &status);
      flag = 1;
    }
    while (!flag) {
      MPI_Test(&list->requests[index], &flag, &status);
      again(flag);
    }
    done(list, index, &status);
  }
}

static int holds_kept(const struct list* list, int collective) {
  for (int i = 0; i < list->count; ++i) {
    const struct operation* operation = list->operations[i];
    if (operation != NULL && operation->mode == PERSISTENT && (operation->form != NULL) == collective) return 1;
  }
  return 0;
}

static void all(struct list* list, int chosen_waits) {
  const int waits = chosen_waits || (avoids("testall of persistent collectives") && holds_kept(list, 1));
  int flag = waits;
  if (waits) MPI_Waitall(list->count, list->requests, list->statuses);
  while (!flag) {
    MPI_Testall(list->count, list->requests, &flag, list->statuses);
    again(flag);
  }
  for (int i = 0; i < list->count; ++i) {
    if (list->operations[i] != NULL && list->operations[i]->active) done(list, i, &list->statuses[i]);
  }
}

static void any(struct list* list, int waits) {
  while (is_open(list)) {
    int index = MPI_UNDEFINED, flag = 1;
    MPI_Status status;
    if (waits)
      MPI_Waitany(list->count, list->requests, &index, &status);
    else
      MPI_Testany(list->count, list->requests, &index, &flag, &status);
    again(flag);
    if (flag && index != MPI_UNDEFINED) done(list, index, &status);
  }
}

static void some(struct list* list, int waits) {
  while (is_open(list)) {
    int count = 0, indices[2 * MOST_OPERATIONS];
    if (waits)
      MPI_Waitsome(list->count, list->requests, &count, indices, list->statuses);
    else
      MPI_Testsome(list->count, list->requests, &count, indices, list->statuses);
    again(count > 0);
    for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) done(list, indices[i], &list->statuses[i]);
  }
}

/* Looks without completing, until all are complete; then completes them, which must not wait. */
static void look(struct list* list, int waits) {
  for (int i = 0; i < list->count; ++i) {
    if (list->operations[i] == NULL || !list->operations[i]->active) continue;
    int flag = 0;
    MPI_Status status;
    while (!flag) {
      MPI_Request_get_status(list->requests[i], &flag, &status);
      again(flag);
    }
    if (waits)
      MPI_Wait(&list->requests[i], &status);
    else
      MPI_Test(&list->requests[i], &flag, &status);
    if (flag) done(list, i, &status);
  }
}

void complete(struct operation** operations, int count, struct draw* own) {
  struct list list = {0};
  const int inactive_too = draw_chance(own, 50), nulls_too = draw_chance(own, 30);
  for (int i = 0; i < count; ++i) {
    if (nulls_too && draw_chance(own, 30)) list.requests[list.count++] = MPI_REQUEST_NULL;
    if (operations[i]->call.request == MPI_REQUEST_NULL) continue;
    if (!operations[i]->active && !inactive_too) continue;
    list.operations[list.count] = operations[i];
    list.requests[list.count++] = operations[i]->call.request;
  }
  int method = draw_between(own, 0, 5);
  const int waits = draw_chance(own, 50);
  if (!is_open(&list)) return;
  if (method == LOOK && avoids("looks at persistent messages") && holds_kept(&list, 0)) method = EACH;
  switch (method) {
    case EACH:
      each(&list, own, draw_between(own, 0, 6));
      break;
    case 1:
    case 2:
      all(&list, waits);
      break;
    case 3:
      any(&list, waits);
      break;
    case 4:
      some(&list, waits);
      break;
    case LOOK:
    default:
      look(&list, waits);
      break;
  }
}
