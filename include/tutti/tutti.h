/* SPDX-License-Identifier: BSD-3-Clause */
/* Tutti for C: a group of processes and its collectives.
 *
 *     tutti_group world;
 *     double mine = 1, total;
 *     if (tutti_world(&world) != TUTTI_OK) return puts(tutti_last_error()), 1;
 *     tutti_allreduce(world, &mine, &total, 1, TUTTI_FLOAT64, TUTTI_SUM);
 *     tutti_group_free(&world);
 *
 * Rules that hold for every function:
 * - It returns a status; what it has to give comes through its last arguments, which are unchanged after an error.
 *   tutti_last_error() then says in words what happened and what to do. Nothing aborts, prints or throws.
 * - Counts and offsets are in elements of the given type, ranks are positions in the group.
 * - What is sent and what is received share no memory, except in place: TUTTI_IN_PLACE, or the address for which it
 *   stands. Anything else is TUTTI_USAGE; of the neighbour forms `in == out` alone is, on a rank
 *   that sends and receives.
 * - Collectives are called by all ranks of the group in the same order. What "Agreed" names is the same on all ranks,
 *   and so is the algorithm. A rank that differs: TUTTI_MISMATCH on the ranks concerned.
 * - Every collective communicates. It fails with TUTTI_USAGE (a wrong argument: nothing was sent, the group is intact),
 *   TUTTI_MISMATCH, TUTTI_PEER_LOST or, of a blocking call, TUTTI_TIMEOUT (the group is broken; the environment's
 *   TUTTI_TIMEOUT says how long), TUTTI_BROKEN, TUTTI_SYSTEM. After that later calls return the same.
 * - The i-form of a collective takes the same arguments and a request; it returns at once. Its buffers belong to Tutti
 *   until a wait or test reports the end; counts and offsets are copied. The request's status is what the blocking
 *   form would have returned.
 * - One thread at a time starts operations on a group; any thread may wait, one at a time per request. */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <stddef.h>
#include <stdint.h>

#include "tutti/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_C_API __attribute__((visibility("default")))

/* What a function returns. */
typedef enum tutti_status {
  TUTTI_OK = 0,
  TUTTI_USAGE = 1,      /* A wrong argument, found before anything was sent; the group is intact. */
  TUTTI_MISMATCH = 2,   /* Ranks called different operations; the group is broken. */
  TUTTI_PEER_LOST = 3,  /* A process of the group is gone; the group is broken. */
  TUTTI_TIMEOUT = 4,    /* The time ran out. A request is still pending; a blocking call was given up: broken group. */
  TUTTI_BROKEN = 5,     /* A rank gave its request up, a reduction function threw, or MPI_Finalize ended the group. */
  TUTTI_SYSTEM = 6,     /* The operating system refused something (memory, a descriptor, a socket). */
  TUTTI_INTERRUPTED = 7 /* A signal asked the wait to stop (of Python alone so far). */
} tutti_status;

/* A group of processes; made by tutti_world and the functions below it, given back by tutti_group_free. */
typedef struct tutti_group_handle* tutti_group;

/* A started operation; {NULL} when there is none. It may be moved (copied and the original forgotten), not shared. */
typedef struct tutti_request {
  void* operation;
} tutti_request;

/* A collective that is called again and again with the same buffers: made by the _init forms, which communicate
 * nothing, given back by tutti_persistent_free. {NULL, NULL} when there is none. It may be moved, not shared. */
typedef struct tutti_persistent {
  void* collective;
  void* operation;
} tutti_persistent;

/* What one element is: one of these, or tutti_type_opaque(bytes). */
typedef uint64_t tutti_type;
#define TUTTI_INT8 ((tutti_type)1)
#define TUTTI_INT16 ((tutti_type)2)
#define TUTTI_INT32 ((tutti_type)3)
#define TUTTI_INT64 ((tutti_type)4)
#define TUTTI_UINT8 ((tutti_type)5)
#define TUTTI_UINT16 ((tutti_type)6)
#define TUTTI_UINT32 ((tutti_type)7)
#define TUTTI_UINT64 ((tutti_type)8)
#define TUTTI_FLOAT32 ((tutti_type)9)
#define TUTTI_FLOAT64 ((tutti_type)10)
#define TUTTI_BOOL ((tutti_type)11)       /* _Bool */
#define TUTTI_COMPLEX64 ((tutti_type)12)  /* float _Complex */
#define TUTTI_COMPLEX128 ((tutti_type)13) /* double _Complex */
/* struct { T value; int64_t index; }: the elements of TUTTI_MINLOC and TUTTI_MAXLOC; 16 bytes each. */
#define TUTTI_LOCATED_INT8 ((tutti_type)14)
#define TUTTI_LOCATED_INT16 ((tutti_type)15)
#define TUTTI_LOCATED_INT32 ((tutti_type)16)
#define TUTTI_LOCATED_INT64 ((tutti_type)17)
#define TUTTI_LOCATED_UINT8 ((tutti_type)18)
#define TUTTI_LOCATED_UINT16 ((tutti_type)19)
#define TUTTI_LOCATED_UINT32 ((tutti_type)20)
#define TUTTI_LOCATED_UINT64 ((tutti_type)21)
#define TUTTI_LOCATED_FLOAT32 ((tutti_type)22)
#define TUTTI_LOCATED_FLOAT64 ((tutti_type)23)

/* Elements of `bytes` bytes (1 to 2^32 - 1) without arithmetic: they travel, and functions of your own combine them. */
TUTTI_C_API tutti_type tutti_type_opaque(size_t bytes);
/* The bytes of one element; 0 for what is not a type. */
TUTTI_C_API size_t tutti_type_size(tutti_type type);

/* Where elements lie that do not lie side by side (docs/layouts.md): a handle, given back by tutti_layout_free. Each
 * rank's own: ranks agree on how many elements move, not on where they lie. */
typedef struct tutti_layout_handle* tutti_layout;

/* These make a layout, of elements of `type`, a plain one, and are local. Counts, blocks and strides are in elements;
 * whatever ends in _bytes is in bytes and may be negative. Errors: TUTTI_USAGE for negative counts and what is too
 * large. strided: `count` blocks of `block` elements, which begin `stride` elements apart. */
TUTTI_C_API tutti_status tutti_layout_strided(tutti_layout* layout, tutti_type type, int64_t count, int64_t block,
                                              int64_t stride);
/* n blocks of counts[i] elements, each offsets[i] elements from the beginning. */
TUTTI_C_API tutti_status tutti_layout_indexed(tutti_layout* layout, tutti_type type, int64_t n, const int64_t* counts,
                                              const int64_t* offsets);
/* A block of an array, stored row by row, of `whole` elements in each of n dimensions: `part` of them from `first` on.
 */
TUTTI_C_API tutti_status tutti_layout_box(tutti_layout* layout, tutti_type type, int32_t n, const int64_t* whole,
                                          const int64_t* part, const int64_t* first);
/* `count` times an inner layout, `stride_bytes` apart; its elements are the inner one's. */
TUTTI_C_API tutti_status tutti_layout_nested(tutti_layout* layout, tutti_layout inner, int64_t count,
                                             int64_t stride_bytes);
/* n parts of any kind, each offsets_bytes[i] from the beginning, such as the fields of a struct. Its elements are
 * bytes: it travels, and is not reduced. */
TUTTI_C_API tutti_status tutti_layout_mixed(tutti_layout* layout, int64_t n, const int64_t* offsets_bytes,
                                            const tutti_layout* parts);
/* The same bytes with another lower bound and extent: where it begins, and how far the next one is in a nested one. */
TUTTI_C_API tutti_status tutti_layout_resized(tutti_layout* layout, tutti_layout inner, int64_t lower_bytes,
                                              int64_t extent_bytes);
/* The bytes that move, and those from one to the next; -1 for NULL. */
TUTTI_C_API int64_t tutti_layout_size(tutti_layout layout);
TUTTI_C_API int64_t tutti_layout_extent(tutti_layout layout);
/* Gives a layout back and sets it to NULL; NULL is allowed. What was started with it goes on. Local. */
TUTTI_C_API tutti_status tutti_layout_free(tutti_layout* layout);

/* The type to pass to any collective, send or recv, so that `in` (and what is sent) lies as the first layout says, and
 * `out` (and what is received, and bcast's buffer) as the second; NULL: side by side. Counts are those of elements, in
 * the layout's order. Valid as long as both layouts; 0, which is no type, where their elements differ or both are NULL.
 *
 *     tutti_layout column;
 *     tutti_layout_strided(&column, TUTTI_FLOAT64, rows, 1, columns);
 *     tutti_bcast(world, matrix, rows, tutti_laid_out(NULL, column), 0); */
TUTTI_C_API tutti_type tutti_laid_out(tutti_layout in, tutti_layout out);

/* Combines elements: inout[i] = in[i] op inout[i] for n elements, where `in` comes from the lower ranks. It must be
 * associative. It is called on any rank, from any thread that waits, and must not call Tutti. */
typedef void (*tutti_function)(const void* in, void* inout, int64_t n, void* context);

/* How two elements become one. A value: nothing to free. */
typedef struct tutti_op {
  int32_t code;
  int32_t commutative;
  tutti_function function;
  void* context;
} tutti_op;

/* Integers wrap around on overflow; in min, max, minloc and maxloc a NaN wins; equal located values keep the lowest
 * index. */
static const tutti_op TUTTI_SUM = {1, 1, NULL, NULL};     /* integers, float, double, complex */
static const tutti_op TUTTI_PROD = {2, 1, NULL, NULL};    /* integers, float, double, complex */
static const tutti_op TUTTI_MIN = {3, 1, NULL, NULL};     /* integers, float, double */
static const tutti_op TUTTI_MAX = {4, 1, NULL, NULL};     /* integers, float, double */
static const tutti_op TUTTI_LAND = {5, 1, NULL, NULL};    /* integers, bool; the result is 0 or 1 */
static const tutti_op TUTTI_LOR = {6, 1, NULL, NULL};     /* integers, bool; the result is 0 or 1 */
static const tutti_op TUTTI_LXOR = {7, 1, NULL, NULL};    /* integers, bool; the result is 0 or 1 */
static const tutti_op TUTTI_BAND = {8, 1, NULL, NULL};    /* integers, bool */
static const tutti_op TUTTI_BOR = {9, 1, NULL, NULL};     /* integers, bool */
static const tutti_op TUTTI_BXOR = {10, 1, NULL, NULL};   /* integers, bool */
static const tutti_op TUTTI_MINLOC = {11, 1, NULL, NULL}; /* located types */
static const tutti_op TUTTI_MAXLOC = {12, 1, NULL, NULL}; /* located types */

/* A reduction by a function of your own, over any type; the same on all ranks. commutative: 0 keeps the order of the
 * ranks. function and context must stay valid until the operations that use them are complete. Local.
 * Errors: TUTTI_USAGE without a function. */
TUTTI_C_API tutti_status tutti_op_create(tutti_function function, void* context, int commutative, tutti_op* op);

/* In place of `in` (scatter, scatterv: of `out`): this rank's contribution already lies where the result goes. */
#define TUTTI_IN_PLACE ((void*)-1)

/* ---- Memory of the library's own: arrays that lie in it are handed over several times as fast inside a host. ---- */

/* `bytes` bytes, zeroed, at the beginning of a page, of the memory that this rank's host shares (docs/memory.md). Only
 * this rank uses it, as any other memory. Local. Errors: TUTTI_SYSTEM when there is none left. */
TUTTI_C_API tutti_status tutti_allocate(tutti_group group, int64_t bytes, void** memory);
/* Gives it back; NULL is allowed. No operation may be in flight with it; the group may be gone. Local. Errors:
 * TUTTI_USAGE for other memory. */
TUTTI_C_API tutti_status tutti_release(void* memory);

/* ---- Errors and version. All local. ---- */

/* What the last function that failed in this thread failed with: one readable text; "" when none has. Valid until the
 * next failure in this thread. */
TUTTI_C_API const char* tutti_last_error(void);
/* The rank in the group that is lost or disagrees; -1 where there is none. */
TUTTI_C_API int32_t tutti_last_error_peer(void);
/* The name of a status: "peer lost". */
TUTTI_C_API const char* tutti_status_name(tutti_status status);
/* The library's version, as TUTTI_VERSION is the header's. */
TUTTI_C_API const char* tutti_version(void);

/* ---- Groups. ---- */

/* All processes of the job; a program that was started alone is a world of one. The first call finds the other
 * processes (communicates). Errors: TUTTI_USAGE for a wrong environment, TUTTI_TIMEOUT (after the environment's
 * TUTTI_TIMEOUT; between hosts after ten minutes without it), TUTTI_SYSTEM, TUTTI_PEER_LOST. */
TUTTI_C_API tutti_status tutti_world(tutti_group* group);
/* tutti_from_mpi of tutti/mpi.h, without its MPI's types: of the MPI communicator at this address, in the ABI
 * "openmpi", "mpich" or "standard"; "" for that of the MPI that is loaded. Called by all ranks of the communicator;
 * communicates. Errors: TUTTI_USAGE for another ABI, an MPI that is not initialised, and no communicator of one group;
 * TUTTI_SYSTEM, TUTTI_TIMEOUT. */
TUTTI_C_API tutti_status tutti_from_mpi_at(const void* communicator, const char* abi, tutti_group* group);
/* Gives a handle back and sets it to NULL; NULL is allowed. Its pending requests go on. Local. */
TUTTI_C_API tutti_status tutti_group_free(tutti_group* group);
/* This process's rank; -1 for NULL. Local. */
TUTTI_C_API int32_t tutti_rank(tutti_group group);
/* The number of processes; -1 for NULL. Local. */
TUTTI_C_API int32_t tutti_size(tutti_group group);
/* A name for messages: "world", "world/0.2" (of its split number 0, colour 2); valid as long as the handle; "" for
 * NULL. Local. */
TUTTI_C_API const char* tutti_name(tutti_group group);

/* The ranks with the same colour, ordered by key, then by rank here; NULL for a negative colour. Collective. */
TUTTI_C_API tutti_status tutti_split(tutti_group group, int colour, int key, tutti_group* part);
/* The same ranks with an order of operations of their own. Collective. */
TUTTI_C_API tutti_status tutti_dup(tutti_group group, tutti_group* copy);
/* The `count` ranks listed, in that order; NULL for those not in it. Collective over `group`. Agreed: the list
 * (TUTTI_MISMATCH on all ranks where lists differ, and the group is as before). */
TUTTI_C_API tutti_status tutti_subgroup(tutti_group group, const int32_t* ranks, int32_t count, tutti_group* part);
/* The same, but called by the ranks listed alone; the others need not know. Lists that share ranks are made in the same
 * order on those ranks. Agreed among those listed: the list. Errors: TUTTI_USAGE when this rank is not listed. */
TUTTI_C_API tutti_status tutti_create(tutti_group group, const int32_t* ranks, int32_t count, tutti_group* part);
/* The ranks that share this rank's host, and so its memory, ordered by key, then by rank here. Collective. */
TUTTI_C_API tutti_status tutti_split_by_host(tutti_group group, int key, tutti_group* host);
/* The same group, whose sums (TUTTI_SUM of floating-point and complex types) are rounded once: the same bits whatever
 * the algorithm, the order and the hosts. Groups made from it are like it; they refuse TUTTI_PROD of such types
 * (TUTTI_USAGE). Local. Agreed: which of the two a call uses. */
TUTTI_C_API tutti_status tutti_reproducible(tutti_group group, tutti_group* same);

/* What is left of a group (docs/faults.md): all its ranks call these, and those that are lost need not. They work on a
 * broken group too. Errors: TUTTI_PEER_LOST when the others go on without this rank, TUTTI_TIMEOUT (call it again),
 * TUTTI_MISMATCH.
 *
 * all: 1 when all survivors say `flag` (not 0), else 0; the same on all of them, also when ranks die meanwhile. */
TUTTI_C_API tutti_status tutti_agree(tutti_group group, int flag, int* all);
/* A new group of the survivors, in the same order; the same on all of them. */
TUTTI_C_API tutti_status tutti_shrink(tutti_group group, tutti_group* survivors);
/* The ranks that the last tutti_agree or tutti_shrink of the group found lost, ascending: as many as fit into the
 * `capacity` of `ranks`, and how many there are. Local. */
TUTTI_C_API tutti_status tutti_lost(tutti_group group, int32_t* ranks, int32_t capacity, int32_t* count);

/* Later calls of one collective ("allreduce") through this handle use this algorithm ("ring",
 * "chain:segment=4096,radix=3", as `tutti plan list` names them; a segment is of bytes); NULL or "": the table
 * chooses again. Local. Agreed: the choice. Errors: TUTTI_USAGE for a collective that does not exist (a wrong
 * algorithm: at the call). */
TUTTI_C_API tutti_status tutti_choose(tutti_group group, const char* collective, const char* algorithm);

/* ---- Collectives. ---- */

/* Returns when all ranks have called it. */
TUTTI_C_API tutti_status tutti_barrier(tutti_group group);
TUTTI_C_API tutti_status tutti_ibarrier(tutti_group group, tutti_request* request);
TUTTI_C_API tutti_status tutti_barrier_init(tutti_group group, tutti_persistent* persistent);

/* buffer: count elements; the root's are sent, everybody else's filled. Agreed: count, type, root. */
TUTTI_C_API tutti_status tutti_bcast(tutti_group group, void* buffer, int64_t count, tutti_type type, int32_t root);
TUTTI_C_API tutti_status tutti_ibcast(tutti_group group, void* buffer, int64_t count, tutti_type type, int32_t root,
                                      tutti_request* request);
TUTTI_C_API tutti_status tutti_bcast_init(tutti_group group, void* buffer, int64_t count, tutti_type type, int32_t root,
                                          tutti_persistent* persistent);

/* out[i] = in[i] of rank 0 op in[i] of rank 1 ... at the root; out is not used elsewhere. in, out: count elements.
 * TUTTI_IN_PLACE at the root: its contribution is in out. Agreed: count, type, op, root. */
TUTTI_C_API tutti_status tutti_reduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                      tutti_op op, int32_t root);
TUTTI_C_API tutti_status tutti_ireduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                       tutti_op op, int32_t root, tutti_request* request);
TUTTI_C_API tutti_status tutti_reduce_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                           tutti_op op, int32_t root, tutti_persistent* persistent);

/* The same on all ranks. TUTTI_IN_PLACE on all of them: the contribution is in out. Agreed: count, type, op. */
TUTTI_C_API tutti_status tutti_allreduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                         tutti_op op);
TUTTI_C_API tutti_status tutti_iallreduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                          tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_allreduce_init(tutti_group group, const void* in, void* out, int64_t count,
                                              tutti_type type, tutti_op op, tutti_persistent* persistent);

/* *total = the sum of all elements of everybody's in, rounded once: the same bits however they are dealt over ranks.
 * count: each rank's own, also 0; type: floating-point or complex. Agreed: type. */
TUTTI_C_API tutti_status tutti_sum(tutti_group group, const void* in, int64_t count, tutti_type type, void* total);
TUTTI_C_API tutti_status tutti_isum(tutti_group group, const void* in, int64_t count, tutti_type type, void* total,
                                    tutti_request* request);

/* out[i] = in[i] of rank 0 op ... op in[i] of this rank. in, out: count elements. TUTTI_IN_PLACE: the contribution is
 * in out. Agreed: count, type, op. */
TUTTI_C_API tutti_status tutti_scan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                    tutti_op op);
TUTTI_C_API tutti_status tutti_iscan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                     tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_scan_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                         tutti_op op, tutti_persistent* persistent);

/* The same without this rank's own in; rank 0's out stays as it is. */
TUTTI_C_API tutti_status tutti_exscan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                      tutti_op op);
TUTTI_C_API tutti_status tutti_iexscan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                       tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_exscan_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                           tutti_op op, tutti_persistent* persistent);

/* out = block `rank` of what everybody's in is combined to. in: size blocks of count elements; out: count.
 * TUTTI_IN_PLACE: the blocks are in out, and the result goes to its beginning. Agreed: count, type, op. */
TUTTI_C_API tutti_status tutti_reduce_scatter_block(tutti_group group, const void* in, void* out, int64_t count,
                                                    tutti_type type, tutti_op op);
TUTTI_C_API tutti_status tutti_ireduce_scatter_block(tutti_group group, const void* in, void* out, int64_t count,
                                                     tutti_type type, tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_reduce_scatter_block_init(tutti_group group, const void* in, void* out, int64_t count,
                                                         tutti_type type, tutti_op op, tutti_persistent* persistent);

/* The root's out = everybody's in, by rank. in: count elements; out: size * count at the root, not used elsewhere.
 * TUTTI_IN_PLACE at the root: its block already lies in out. Agreed: count, type, root. */
TUTTI_C_API tutti_status tutti_gather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                      int32_t root);
TUTTI_C_API tutti_status tutti_igather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                       int32_t root, tutti_request* request);
TUTTI_C_API tutti_status tutti_gather_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                           int32_t root, tutti_persistent* persistent);

/* out = the root's block for this rank. in: size * count elements at the root, not used elsewhere; out: count.
 * TUTTI_IN_PLACE as out at the root: its block stays in in. Agreed: count, type, root. */
TUTTI_C_API tutti_status tutti_scatter(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                       int32_t root);
TUTTI_C_API tutti_status tutti_iscatter(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                        int32_t root, tutti_request* request);
TUTTI_C_API tutti_status tutti_scatter_init(tutti_group group, const void* in, void* out, int64_t count,
                                            tutti_type type, int32_t root, tutti_persistent* persistent);

/* Everybody's out = everybody's in, by rank. in: count elements; out: size * count.
 * TUTTI_IN_PLACE on all ranks: each block already lies in out. Agreed: count, type. */
TUTTI_C_API tutti_status tutti_allgather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type);
TUTTI_C_API tutti_status tutti_iallgather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                          tutti_request* request);
TUTTI_C_API tutti_status tutti_allgather_init(tutti_group group, const void* in, void* out, int64_t count,
                                              tutti_type type, tutti_persistent* persistent);

/* Block j of in goes to rank j, block i of out comes from rank i. in, out: size blocks of count elements.
 * TUTTI_IN_PLACE on all ranks: out is also what is sent. Agreed: count, type. */
TUTTI_C_API tutti_status tutti_alltoall(tutti_group group, const void* in, void* out, int64_t count, tutti_type type);
TUTTI_C_API tutti_status tutti_ialltoall(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                         tutti_request* request);
TUTTI_C_API tutti_status tutti_alltoall_init(tutti_group group, const void* in, void* out, int64_t count,
                                             tutti_type type, tutti_persistent* persistent);

/* ---- Collectives with a count per rank. counts, offsets: size numbers; offsets NULL: blocks lie side by side. ---- */

/* The root's out = everybody's in: counts[r] elements of rank r at offsets[r]. count: the elements of in, as the root's
 * counts have it. counts, offsets and out matter at the root alone. TUTTI_IN_PLACE at the root: its block already lies
 * in out (count is not looked at). Agreed: type, root. */
TUTTI_C_API tutti_status tutti_gatherv(tutti_group group, const void* in, int64_t count, void* out,
                                       const int64_t* counts, const int64_t* offsets, tutti_type type, int32_t root);
TUTTI_C_API tutti_status tutti_igatherv(tutti_group group, const void* in, int64_t count, void* out,
                                        const int64_t* counts, const int64_t* offsets, tutti_type type, int32_t root,
                                        tutti_request* request);
TUTTI_C_API tutti_status tutti_gatherv_init(tutti_group group, const void* in, int64_t count, void* out,
                                            const int64_t* counts, const int64_t* offsets, tutti_type type,
                                            int32_t root, tutti_persistent* persistent);

/* out = counts[rank] elements of the root's in at offsets[rank]. count: the elements of out, as the root's counts have
 * it. in, counts and offsets matter at the root alone. TUTTI_IN_PLACE as out at the root: its block stays in in (count
 * is not looked at). Agreed: type, root. */
TUTTI_C_API tutti_status tutti_scatterv(tutti_group group, const void* in, const int64_t* counts,
                                        const int64_t* offsets, void* out, int64_t count, tutti_type type,
                                        int32_t root);
TUTTI_C_API tutti_status tutti_iscatterv(tutti_group group, const void* in, const int64_t* counts,
                                         const int64_t* offsets, void* out, int64_t count, tutti_type type,
                                         int32_t root, tutti_request* request);
TUTTI_C_API tutti_status tutti_scatterv_init(tutti_group group, const void* in, const int64_t* counts,
                                             const int64_t* offsets, void* out, int64_t count, tutti_type type,
                                             int32_t root, tutti_persistent* persistent);

/* Everybody's out = everybody's in: counts[r] elements of rank r at offsets[r]. count: the elements of in, as in
 * counts[rank]. TUTTI_IN_PLACE on all ranks: each block already lies in out (count is not looked at). Agreed: counts,
 * type. */
TUTTI_C_API tutti_status tutti_allgatherv(tutti_group group, const void* in, int64_t count, void* out,
                                          const int64_t* counts, const int64_t* offsets, tutti_type type);
TUTTI_C_API tutti_status tutti_iallgatherv(tutti_group group, const void* in, int64_t count, void* out,
                                           const int64_t* counts, const int64_t* offsets, tutti_type type,
                                           tutti_request* request);
TUTTI_C_API tutti_status tutti_allgatherv_init(tutti_group group, const void* in, int64_t count, void* out,
                                               const int64_t* counts, const int64_t* offsets, tutti_type type,
                                               tutti_persistent* persistent);

/* send_counts[j] elements of in at send_offsets[j] go to rank j; recv_counts[i] come from rank i to recv_offsets[i] of
 * out. TUTTI_IN_PLACE on all ranks: out is also what is sent, by recv_counts and recv_offsets. Agreed: type; each
 * send count is its receiver's recv count. */
TUTTI_C_API tutti_status tutti_alltoallv(tutti_group group, const void* in, const int64_t* send_counts,
                                         const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                         const int64_t* recv_offsets, tutti_type type);
TUTTI_C_API tutti_status tutti_ialltoallv(tutti_group group, const void* in, const int64_t* send_counts,
                                          const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                          const int64_t* recv_offsets, tutti_type type, tutti_request* request);
TUTTI_C_API tutti_status tutti_alltoallv_init(tutti_group group, const void* in, const int64_t* send_counts,
                                              const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                              const int64_t* recv_offsets, tutti_type type,
                                              tutti_persistent* persistent);

/* send[j] says what of in goes to rank j, recv[i] where in out lies what comes from rank i, each offset bytes further
 * on (offsets NULL: none): layouts and types of each pair's own, in which both ends have the same number of bytes. A
 * layout of NULL: nothing. TUTTI_IN_PLACE on all ranks: out is also what is sent, by recv. Agreed: nothing else. */
TUTTI_C_API tutti_status tutti_alltoallw(tutti_group group, const void* in, const int64_t* send_offsets,
                                         const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                         const tutti_layout* recv);
TUTTI_C_API tutti_status tutti_ialltoallw(tutti_group group, const void* in, const int64_t* send_offsets,
                                          const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                          const tutti_layout* recv, tutti_request* request);
TUTTI_C_API tutti_status tutti_alltoallw_init(tutti_group group, const void* in, const int64_t* send_offsets,
                                              const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                              const tutti_layout* recv, tutti_persistent* persistent);

/* out = this rank's block of what everybody's in is combined to: counts[r] elements for rank r, side by side in in.
 * TUTTI_IN_PLACE: the blocks are in out, and the result goes to its beginning. Agreed: counts, type, op. */
TUTTI_C_API tutti_status tutti_reduce_scatter(tutti_group group, const void* in, void* out, const int64_t* counts,
                                              tutti_type type, tutti_op op);
TUTTI_C_API tutti_status tutti_ireduce_scatter(tutti_group group, const void* in, void* out, const int64_t* counts,
                                               tutti_type type, tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_reduce_scatter_init(tutti_group group, const void* in, void* out, const int64_t* counts,
                                                   tutti_type type, tutti_op op, tutti_persistent* persistent);

/* ---- Between two ranks. Messages of one sender, receiver and tag arrive in order. Nothing to agree on. ---- */

/* Sends count elements to rank `to`, another than this one, whose recv has the same count, type and tag. Returns when
 * data may be reused, which may need the receiver. */
TUTTI_C_API tutti_status tutti_send(tutti_group group, const void* data, int64_t count, tutti_type type, int32_t to,
                                    uint32_t tag);
TUTTI_C_API tutti_status tutti_isend(tutti_group group, const void* data, int64_t count, tutti_type type, int32_t to,
                                     uint32_t tag, tutti_request* request);
/* Receives count elements from rank `from`; the message's length must be the same. */
TUTTI_C_API tutti_status tutti_recv(tutti_group group, void* data, int64_t count, tutti_type type, int32_t from,
                                    uint32_t tag);
TUTTI_C_API tutti_status tutti_irecv(tutti_group group, void* data, int64_t count, tutti_type type, int32_t from,
                                     uint32_t tag, tutti_request* request);

/* ---- Requests. Times are in nanoseconds; negative: no limit. ---- */

/* Waits for the end of an operation. The request is {NULL} afterwards, except after TUTTI_TIMEOUT and
 * TUTTI_INTERRUPTED: then it is still pending; wait again or free it. An empty request is complete.
 * Errors: those of the operation, TUTTI_TIMEOUT. */
TUTTI_C_API tutti_status tutti_wait(tutti_request* request, int64_t timeout_ns);
/* Moves things on; *done = 1 when the operation is complete (the request is then {NULL}), else 0. Does not block. */
TUTTI_C_API tutti_status tutti_test(tutti_request* request, int* done);
/* Waits until one of n is complete; *index is its place, and that request {NULL}. Empty ones are passed over;
 * *index = n when all are. Errors: those of that operation (*index then says which), TUTTI_TIMEOUT. */
TUTTI_C_API tutti_status tutti_wait_any(tutti_request* requests, size_t n, size_t* index, int64_t timeout_ns);
/* Waits for all of n. Errors: the first failure found, after all are complete or failed; TUTTI_TIMEOUT, after which
 * none has become {NULL}: wait again, and what failed meanwhile is said then. */
TUTTI_C_API tutti_status tutti_wait_all(tutti_request* requests, size_t n, int64_t timeout_ns);
/* Gives up a request and sets it to {NULL}: waits for a pending operation; after a time-out it gives the operation up
 * instead, which breaks the group. Its buffers are yours again. */
TUTTI_C_API tutti_status tutti_request_free(tutti_request* request);
/* A descriptor that becomes readable when the operation is complete; it belongs to the request: do not close it.
 * Asking for it starts the library's progress thread. Errors: TUTTI_USAGE for an empty request, TUTTI_SYSTEM. */
TUTTI_C_API tutti_status tutti_request_fd(tutti_request* request, int* fd);

/* Starts a persistent collective: one call of it on all ranks, which may use any form. Its plan was made by the _init
 * form; its buffers belong to it until a wait has returned. Errors: TUTTI_USAGE while it is under way. */
TUTTI_C_API tutti_status tutti_start(tutti_persistent* persistent);
/* As tutti_wait and tutti_test. At once when it was not started. */
TUTTI_C_API tutti_status tutti_persistent_wait(tutti_persistent* persistent, int64_t timeout_ns);
TUTTI_C_API tutti_status tutti_persistent_test(tutti_persistent* persistent, int* done);
/* tutti_start and tutti_persistent_wait in one, as fast as can be; the job's time limit holds. */
TUTTI_C_API tutti_status tutti_run(tutti_persistent* persistent);
/* Waits for it, as tutti_request_free, and sets it to {NULL, NULL}. */
TUTTI_C_API tutti_status tutti_persistent_free(tutti_persistent* persistent);

#ifdef __cplusplus
}
#endif

#include "tutti/plan.h"     /* Plans of your own. */
#include "tutti/topology.h" /* Grids, graphs, the collectives along their edges, and sparse_exchange. */

#endif
