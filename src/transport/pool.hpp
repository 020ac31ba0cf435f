// SPDX-License-Identifier: BSD-3-Clause
// Nodes of lists that stay where they are and are used again.
#pragma once

#include <memory>
#include <vector>

namespace tutti::transport {

/// `Node` links through its own `next`. Allocates only when all nodes are in use.
template <class Node>
class Pool {
 public:
  Node& obtain() {
    if (free_ == nullptr) {
      nodes_.push_back(std::make_unique<Node>());
      return *nodes_.back();
    }
    Node& node = *free_;
    free_ = node.next;
    node.next = nullptr;
    return node;
  }
  void recycle(Node& node) {
    node.next = free_;
    free_ = &node;
  }

 private:
  std::vector<std::unique_ptr<Node>> nodes_;  // every node there is
  Node* free_ = nullptr;
};

}  // namespace tutti::transport
