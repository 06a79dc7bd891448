// RaiseDescriptorLimit: makes room for the sockets of clients.
//
// Debian's default limit is 1,024 open files; a server with maxclients 10,000 needs more.
//
//   options.maxclients = RaiseDescriptorLimit(options.maxclients);
//
// Thread-safety: it changes a limit of the process.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_DESCRIPTOR_LIMIT_H_
#define REDOUBLE_SIM_SERVER_PROCESS_DESCRIPTOR_LIMIT_H_

namespace redouble::inline v0_1::sim {

// Raises the limit of open files for `clients`, beside listeners, logs and epoll. Returns how many
// clients fit: `clients` or fewer, at least one.
int RaiseDescriptorLimit(int clients);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_DESCRIPTOR_LIMIT_H_
