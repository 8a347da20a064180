/** Asks the daemon of a home to hand over to a standby. */
export const DRAIN_SIGNAL = 'SIGUSR2';
