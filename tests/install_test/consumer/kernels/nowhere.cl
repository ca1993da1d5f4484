// No device builds this program. The build of the bundle must succeed without it.
#error no device has this
