import assert from 'node:assert/strict';
import type { Key } from 'node:readline';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import { fakeTimers } from '../../../protocol/client/testing/fake-timers.ts';
import type { ConnectionStatus, GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { createPaint } from '../terminal/paint.ts';
import { createPlainScreen } from '../terminal/screen.ts';
import type { ChatFiles } from './chat-files.ts';
import { InteractiveChat } from './interactive-chat.ts';
import type { ChatTabs } from './tabs/chat-tabs.ts';

const item = {
  call_id: 'c1',
  header: 'bash: make',
  subject: 'make',
  preview: 'make',
  func_name: 'bash',
  approval_label: 'bash',
};
export const ASKED: StreamEventOf<'approve_request'> = {
  type: 'approve_request',
  items: [{ ...item, needs_approval: true, error: null }],
  approval_id: 'a1',
  kind: 'tools',
  expires_at_ms: 1,
};
export const THINKING: StreamEvent = { type: 'ws_state', ws_id: 'w', state: 'thinking' };

const NO_FILES: ChatFiles = {
  upload: () => assert.fail('no upload'),
  uploadFile: () => assert.fail('no upload'),
  isLocal: true,
  exportTo: () => assert.fail('no export'),
  importFrom: () => assert.fail('no import'),
  downloadAttachment: () => assert.fail('no download'),
};

interface FakeClientDeps {
  calls: [method: string, params: unknown][];
  answer(method: string): unknown;
  onSubscribe(options: SubscriptionOptions): void;
}

const fakeClient = ({ calls, answer, onSubscribe }: FakeClientDeps): GatewayClient => ({
  connect: () => new Promise(() => undefined),
  async call(method, ...[params]) {
    calls.push([method, params]);
    return answer(method) as never; // the test follows the method's contract
  },
  on: () => () => undefined,
  subscribe(_wsId, options) {
    onSubscribe(options);
    return { cursor: undefined, hurry: () => undefined, close: () => undefined };
  },
  retryNow: () => void calls.push(['retryNow', undefined]),
  close: () => undefined,
});

/** A chat whose keys a test presses and whose calls it reads. */
export function openFakeChat(answer: (method: string) => unknown = () => ({ status: 'ok' })) {
  const timers = fakeTimers();
  const calls: [method: string, params: unknown][] = [];
  let subscription: SubscriptionOptions | undefined;
  let printed = '';
  let left = 0;
  const sequences: string[] = [];
  const connection: { status: ConnectionStatus } = { status: { kind: 'connecting' } };
  const client = fakeClient({
    calls,
    answer,
    onSubscribe: (options) => {
      subscription = options;
    },
  });
  const opened: string[] = [];
  const chat = new InteractiveChat({
    client,
    wsId: 'w',
    connection: () => connection.status,
    screen: createPlainScreen((text) => {
      printed += text;
    }),
    sheet: () => ({ paint: createPaint(false), columns: 90 }),
    history: ['before'],
    draft: '',
    userHome: '/home/me',
    shell: '/bin/sh',
    tabs: tabsInto(opened),
    onHistory: () => undefined,
    timers,
    here: () => ({ nowMs: 1_000, tz: 'UTC' }),
    writeToTerminal: (sequence) => void sequences.push(sequence),
    files: NO_FILES,
    newKey: () => 'k1',
    onOpen: () => undefined,
    onImages: () => undefined,
    onLeave: () => {
      left += 1;
    },
  });
  connection.status = { kind: 'open', hello: undefined as never }; // only its kind is used
  const press = (key: Key) => chat.onKey(undefined, key);
  const type = (text: string) => {
    for (const sign of text) chat.onKey(sign, { sequence: sign });
  };
  return {
    chat,
    timers,
    calls,
    connection,
    press,
    type,
    enter: () => press({ name: 'return' }),
    interrupt: () => press({ name: 'c', ctrl: true }),
    tell: (...events: StreamEvent[]) => {
      for (const event of events) subscription?.onEvent(event, '');
    },
    /** Lines below the conversation; the last one is the input. */
    rows: () => {
      const { lines, input } = chat.view();
      return [...lines, ...(input?.rows ?? [])].filter((line) => line !== '');
    },
    printed: () => printed,
    /** What was written to the terminal next to its screen. */
    sequences,
    /** The workstreams that were opened in tabs. */
    opened,
    left: () => left,
  };
}

const tabsInto = (opened: string[]): ChatTabs => ({
  rows: [],
  open: (wsId) => void opened.push(wsId),
  choose: () => false,
  close: () => false,
});

/** A question that has been on the screen for a while. */
export async function openAskedChat(answer?: (method: string) => unknown) {
  const opened = openFakeChat(answer);
  opened.tell(ASKED);
  await opened.timers.advance(1_000);
  return opened;
}
