// SPDX-License-Identifier: BSD-3-Clause
// The one place where the version stands: CMake, pkg-config and the Python package read it from here.
#pragma once

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0
#define TUTTI_VERSION "0.1.0"
