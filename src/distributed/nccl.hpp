// The communicator of NCCL, for a library and a device that are open.
#pragma once

#include <axisloom/nccl.hpp>

#include "device/device.hpp"
#include "distributed/nccl_api.hpp"

#include <functional>
#include <memory>

namespace axisloom::distributed {

/// What nccl::communicator makes. `open`: the card of that number.
std::shared_ptr<Communicator> nccl_communicator(std::shared_ptr<const NcclApi> api, ncclComm_t comm,
                                                const nccl::Options& options,
                                                const std::function<device::SharedDevice(int)>& open);

}  // namespace axisloom::distributed
