# The BPF object is compiled once, for every kernel since 4.9, and embedded through its skeleton; its source is
# embedded too, for --ebpf. -mcpu=v1: later instruction sets are unknown to old verifiers.
BPF_CFLAGS = -target bpf -mcpu=v1 -O2 -g -Wall -Wextra -Werror \
	      $(addprefix -isystem ,$(wildcard /usr/include/$(shell uname -m)-linux-gnu))

$(O)/bpf/profile.bpf.o: bpf/profile.bpf.c bpf/layout.h
	$(say) CLANG $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -I. -c -o $@ $<

$(O)/bpf/profile.skel.h: $(O)/bpf/profile.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name profile_bpf > $@
