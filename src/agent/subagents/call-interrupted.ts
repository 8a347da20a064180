/**
 * A call has no result in this process: the daemon stops, and the call goes on after the next start, or its run was taken
 * away.
 */
export class CallInterrupted extends Error {
  override readonly name = 'CallInterrupted';
}
