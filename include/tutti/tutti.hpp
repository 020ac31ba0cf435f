// SPDX-License-Identifier: BSD-3-Clause
// Everything of Tutti for C++.
#pragma once

#include "tutti/buffers.hpp"
#include "tutti/call.hpp"
#include "tutti/error.hpp"
#include "tutti/exchange.hpp"
#include "tutti/group.hpp"
#include "tutti/layout.hpp"
#include "tutti/memory.hpp"
#include "tutti/options.hpp"
#include "tutti/parts.hpp"
#include "tutti/persistent.hpp"
#include "tutti/pipeline.hpp"
#include "tutti/plan.hpp"
#include "tutti/request.hpp"
#include "tutti/topology.hpp"
#include "tutti/types.hpp"
#include "tutti/version.h"
