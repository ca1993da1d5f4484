// No device builds it: the build of the bundle must go on without it.
#error no device has this
