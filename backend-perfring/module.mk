LIB_SRCS += \
	backend-perfring/apply.c \
	backend-perfring/decode.c \
	backend-perfring/order.c \
	backend-perfring/perfring.c \
	backend-perfring/refresh.c \
	backend-perfring/ring.c
