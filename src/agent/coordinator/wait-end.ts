/** How a wait for workstreams ended. */
export interface WaitEnd {
  /** Whether that came for which it waited; false: its time was over. */
  isMet: boolean;
  /** Since it began, or since the daemon started again. */
  elapsedMs: number;
}
