/* SPDX-License-Identifier: BSD-3-Clause */
/* A function of MPI 4 on an MPI that lacks it, called as soon as its name is there; by "large", forms with 64-bit
 * counts, which the drop-in has where the MPI has not. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

int MPI_Intercomm_create_from_groups(MPI_Group, int, MPI_Group, int, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);
int MPI_Buffer_detach_c(void*, MPI_Count*);
int MPI_Win_allocate_c(MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void*, MPI_Win*);
int MPI_File_write_at_all_c(MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Status*);
int MPI_Iallgatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype,
                      MPI_Comm, MPI_Request*);
#pragma weak MPI_Intercomm_create_from_groups
#pragma weak MPI_Buffer_detach_c
#pragma weak MPI_Win_allocate_c
#pragma weak MPI_File_write_at_all_c
#pragma weak MPI_Iallgatherv_c

static int rank, size, wrong;

static void check(int right, const char* what) {
  if (!right) wrong += printf("rank %d: %s\n", rank, what) > 0;
}

/* Returns the class of what a call returned. */
static int class_of(int code) {
  int class = code;
  MPI_Error_class(code, &class);
  return class;
}

static void detach(void) {
  static char buffer[MPI_BSEND_OVERHEAD + 100];
  char* detached = NULL;
  MPI_Count bytes = -1;
  MPI_Buffer_attach(buffer, sizeof buffer);
  check(MPI_Buffer_detach_c((void*)&detached, &bytes) == MPI_SUCCESS, "the buffer is not detached");
  check(detached == buffer && bytes == (MPI_Count)sizeof buffer, "another buffer");
}

static void allocate(void) {
  MPI_Win window;
  void* base = NULL;
  check(MPI_Win_allocate_c(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&base, &window) == MPI_SUCCESS, "no window");
  int* unit = NULL;
  int has = 0;
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &has);
  check(has && *unit == 8 && base != NULL, "another window");
  MPI_Win_free(&window);
}

static void write_file(void) {
  const int mine = 1000 + rank;
  int read = 0;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "absent.shared", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  const MPI_Offset place = (MPI_Offset)sizeof mine * rank;
  check(MPI_File_write_at_all_c(file, place, &mine, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS, "not written");
  MPI_File_read_at_all(file, place, &read, 1, MPI_INT, MPI_STATUS_IGNORE);
  check(read == mine, "something else was written");
  /* Files return errors, unless the program says otherwise. */
  const int code = MPI_File_write_at_all_c(file, 0, &mine, (MPI_Count)1 << 32, MPI_INT, MPI_STATUS_IGNORE);
  check(class_of(code) != MPI_SUCCESS, "a count that the MPI cannot have was taken");
  MPI_File_close(&file);
}

/* Counts that are made narrow outlive the call, and not its request: others each time need no more memory. */
static void count_on(void) {
  enum { CALLS = 20000, MOST_KIB = 1024 };
  static int room[CALLS + 3];
  const MPI_Count counts[] = {1, 2};
  const int mine[] = {rank, rank};
  struct rusage before, after;
  memset(room, -1, sizeof room);
  for (int call = 0; call < CALLS; ++call) {
    const MPI_Aint places[] = {call, call + 1};
    const int* all = room + call;
    MPI_Request request;
    MPI_Iallgatherv_c(mine, counts[rank], MPI_INT, room, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(all[0] == 0 && all[1] == 1 && all[2] == 1, "other numbers");
    if (call == CALLS / 10) getrusage(RUSAGE_SELF, &before);
  }
  getrusage(RUSAGE_SELF, &after);
  check(after.ru_maxrss - before.ru_maxrss < MOST_KIB, "its memory grows with its calls");
}

static int create(void) {
  MPI_Comm made;
  return MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_EMPTY, 0, "absent", MPI_INFO_NULL,
                                          MPI_ERRORS_RETURN, &made);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "large") == 0) {
    detach();
    allocate();
    write_file();
  } else if (argc > 1 && strcmp(argv[1], "others") == 0) {
    count_on();
  } else {
    if (argc > 1) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; ++i) check(class_of(create()) == MPI_ERR_UNSUPPORTED_OPERATION, "no error, or another one");
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
