import { randomUUID } from 'node:crypto';
import type { MethodName } from '../../protocol/index.ts';
import { CONNECT } from '../../src/gateway/testing/test-client.ts';
import { problemOf } from '../support/clients/checked-client.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';
import type { Write } from './hostile-frames.ts';

/** The frames between two checks that the daemon answers: fewer than the limit of requests in flight. */
const FRAMES_AT_ONCE = 100;
/** Methods that wait for events that may never happen. */
const WAITING: ReadonlySet<string> = new Set<MethodName>(['agent', 'agent.wait', 'node.invoke']);
const PATIENCE_MS = 60_000;

/** Sends all frames over one connection. Returns the wrong answers, and checks that every required answer came. */
export async function sendFrames(daemon: DaemonUnderTest, frames: readonly Write[]): Promise<string[]> {
  const socket = new WebSocket(daemon.wsUrl);
  const methods = new Map<string, MethodName>();
  const unanswered = new Map<string, string>();
  const problems: string[] = [];
  let wake: () => void = () => undefined;
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => undefined); // the end of the test is not a fault
  socket.addEventListener('close', ({ code, reason }) => closed.reject(new Error(`closed: ${code} ${reason}`)));
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data));
    const problem = problemOf(frame, (id) => methods.get(id));
    if (problem !== undefined) problems.push(problem);
    if (frame.type === 'res') unanswered.delete(frame.id);
    wake();
  });

  const send = (write: Write) => {
    const id = randomUUID(); // a mutation never produces another valid method
    const { text, method } = write(id);
    if (method) methods.set(id, method);
    if (method && !WAITING.has(method)) unanswered.set(id, text);
    socket.send(text);
  };
  async function settle(): Promise<void> {
    while (unanswered.size > 0) await new Promise<void>((resolve) => (wake = resolve));
  }
  const settled = () =>
    within(Promise.race([settle(), closed.promise]), PATIENCE_MS, () => `answers to ${[...unanswered.values()]}`);

  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  send(request('connect', { ...CONNECT, auth: { token: daemon.token } }));
  await settled();
  for (let start = 0; start < frames.length; start += FRAMES_AT_ONCE) {
    for (const write of frames.slice(start, start + FRAMES_AT_ONCE)) send(write);
    send(request('health', {}));
    await settled();
  }
  socket.close();
  return problems;
}

const request =
  (method: MethodName, params: object): Write =>
  (id) => ({ text: JSON.stringify({ type: 'req', id, method, params }), method });
