import type { Socket } from 'node:net';

/** One signal per connection that aborts when it closes. One per request would cost as much as reading a small body. */
export function createDisconnectSignals(): (socket: Socket) => AbortSignal {
  const signals = new WeakMap<Socket, AbortSignal>();
  return (socket) => {
    const known = signals.get(socket);
    if (known) return known;
    const gone = new AbortController();
    const leave = () => gone.abort(new Error('the client disconnected'));
    if (socket.destroyed)
      leave(); // before it was known
    else socket.once('close', leave);
    signals.set(socket, gone.signal);
    return gone.signal;
  };
}
