/* SPDX-License-Identifier: BSD-3-Clause */
/* The library that is preloaded. It depends on nothing but libc, and does nothing in a process that never calls MPI.
 *
 * Each MPI function is a jump through its slot. At first all slots lead to `tutti_mpi_first`, which finds the MPI that
 * the program has loaded, loads the back end for its ABI and lets it fill the slots. Whatever goes wrong, the slots are
 * filled with the MPI's own functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slots.h"

#if !defined(__x86_64__)
#error "the jumps of the front are written for x86-64"
#endif

/* One slot and one jump, by a function's name and by its profiling name: a tool that stands first goes on by that, and
 * so do Fortran's functions; they would pass the back end by. r10 and r11 are free between a call and its function;
 * they say which slot was called first, and where it leads before anything is found. */
// clang-format off
#define FUNCTION(symbol)                                                    \
  __asm__(                                                                  \
      ".pushsection tutti_mpi_slots,\"aw\"\n"                               \
      ".Lslot_" #symbol ": .quad .Lfirst_" #symbol ", .Lname_" #symbol "\n" \
      ".popsection\n"                                                       \
      ".pushsection .rodata\n"                                              \
      ".Lname_" #symbol ": .asciz \"" #symbol "\"\n"                        \
      ".popsection\n"                                                       \
      ".pushsection .text\n"                                                \
      ".globl " #symbol ", P" #symbol "\n"                                   \
      ".type " #symbol ", @function\n"                                      \
      #symbol ": endbr64\n"                                                 \
      "  jmp *.Lslot_" #symbol "(%rip)\n"                                   \
      ".Lfirst_" #symbol ": endbr64\n"                                      \
      "  leaq .Lslot_" #symbol "(%rip), %r11\n"                             \
      "  leaq .Lfirst_" #symbol "(%rip), %r10\n"                            \
      "  jmp tutti_mpi_first\n"                                             \
      ".set P" #symbol ", " #symbol "\n"                                     \
      ".size " #symbol ", . - " #symbol "\n"                                \
      ".popsection\n");
// clang-format on

#define CALL(Name) FUNCTION(MPI_##Name)
#define COLLECTIVE(Name, name) \
  CALL(Name)                   \
  CALL(I##name)                \
  CALL(Name##_init)            \
  CALL(Name##_c)               \
  CALL(I##name##_c)            \
  CALL(Name##_init_c)
#include "functions.def"

/* Keeps the arguments, which may stand in these registers, loads the back end, and goes where the slot leads by then;
 * of a function that the MPI lacks, returns the code of an error. */
__asm__(
    ".pushsection .text\n"
    ".type tutti_mpi_first, @function\n"
    "tutti_mpi_first:\n"
    "  pushq %rbp\n"
    "  movq %rsp, %rbp\n"
    "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n  pushq %rax\n  pushq %r11\n"
    "  movq %r11, %rdi\n"
    "  movq %r10, %rsi\n"
    "  andq $-16, %rsp\n"
    "  call tutti_mpi_load\n"
    "  testl %eax, %eax\n"
    "  jne 1f\n"
    "  leaq -64(%rbp), %rsp\n"
    "  popq %r11\n  popq %rax\n  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"
    "  popq %rbp\n"
    "  jmp *(%r11)\n"
    "1:\n"
    "  leave\n"
    "  ret\n"
    ".size tutti_mpi_first, . - tutti_mpi_first\n"
    ".popsection\n");

/* The linker's names for the section. NOLINTBEGIN(readability-identifier-naming) */
extern struct tutti_mpi_slot __start_tutti_mpi_slots[] __attribute__((visibility("hidden")));
extern struct tutti_mpi_slot __stop_tutti_mpi_slots[] __attribute__((visibility("hidden")));
/* NOLINTEND(readability-identifier-naming) */

/* The sonames of the MPIs, and the back end for each. */
static const struct {
  const char* soname;
  const char* back;
} abis[] = {
#define TUTTI_MPI_ABI(soname, abi) {soname, "libtutti-mpi-" abi ".so"},
#include "launch/mpi_abis.def"
#undef TUTTI_MPI_ABI
};

static void* the_mpi;
static tutti_mpi_absent_function* absent;

/* The MPI's own function, by its profiling name. */
static void* find(const char* name) {
  char profiling[128];
  snprintf(profiling, sizeof profiling, "P%s", name);
  return the_mpi == NULL ? NULL : dlsym(the_mpi, profiling);
}

static void say(const char* what, const char* which) {
  const char* quiet = getenv("TUTTI_LOG");
  if (quiet == NULL || strcmp(quiet, "off") != 0)
    fprintf(stderr, "tutti: all MPI calls are passed on: %s%s%s\n", what, which == NULL ? "" : ": ",
            which == NULL ? "" : which);
}

/* The back end stands in the folder of this library. */
static tutti_mpi_fill_function* load_back(const char* file) {
  Dl_info self;
  char path[4096];
  if (dladdr((void*)&load_back, &self) == 0 || self.dli_fname == NULL) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - self.dli_fname + 1);
  if (snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, file) >= (int)sizeof path) return NULL;
  void* back = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (back == NULL) {
    say("the back end cannot be loaded", dlerror());
    return NULL;
  }
  return (tutti_mpi_fill_function*)dlsym(back, "tutti_mpi_fill");
}

static void load(void) {
  const size_t count = (size_t)(__stop_tutti_mpi_slots - __start_tutti_mpi_slots);
  const char* back = NULL;
  for (size_t i = 0; the_mpi == NULL && i < sizeof abis / sizeof *abis; ++i) {
    the_mpi = dlopen(abis[i].soname, RTLD_LAZY | RTLD_NOLOAD);
    back = abis[i].back;
  }
  if (the_mpi == NULL) {
    say("the program has loaded no MPI of a known ABI", NULL);
    return;
  }
  tutti_mpi_fill_function* fill = load_back(back);
  if (fill != NULL)
    absent = fill(__start_tutti_mpi_slots, count, &find);
  else
    for (size_t i = 0; i < count; ++i) {
      void* target = find(__start_tutti_mpi_slots[i].name);
      if (target != NULL) __start_tutti_mpi_slots[i].target = target;
    }
}

/* Called through the assembly above. A slot that still leads to its `first` afterwards is a function that this MPI
 * lacks. A program that was linked to it would not run without the front; one that looks whether a name is there, as
 * mpi4py does, finds the front's and calls it. */
__attribute__((used, visibility("hidden"))) int tutti_mpi_load(struct tutti_mpi_slot* called, void* first) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, &load);
  if (__atomic_load_n(&called->target, __ATOMIC_RELAXED) != first) return 0;
  if (absent != NULL) return absent(called->name);
  fprintf(stderr, "tutti: the program calls %s, which its MPI does not have\n", called->name);
  abort();
}
