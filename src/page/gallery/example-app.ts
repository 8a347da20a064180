import { systemTimers, wallClock } from '../../../protocol/client/timers.ts';
import { App, type Desk } from '../state/app.ts';
import { Appearance } from '../state/appearance.ts';
import { snapshot } from '../state/conversation/conversation-fixture.ts';
import { createFakeClient } from '../state/fake-client.ts';
import { NOT_LOGGED_IN } from '../state/login.ts';
import type { Tab } from '../state/tab.ts';
import { toExampleEvents } from './example-events.ts';

const OF_NOBODY = { getItem: () => null, setItem: () => undefined };
const nothing = () => undefined;

/** The page’s state with a client that answers from this file. */
export async function openExampleApp(): Promise<{ app: App; desk: Desk; tab: Tab }> {
  const fake = createFakeClient();
  const workstream = snapshot().workstream;
  fake.answer('workstream.list', () => ({ workstreams: [workstream] }));
  fake.answer('health', () => ({
    ...{ version: '1', model: 'demo', notices: [], store: { status: 'degraded', reason: 'the disk is full' } },
    ...{ backend: { status: 'down' }, sandbox: { active: false, reason: 'bubblewrap is not installed' } },
  }));
  let tell: (status: never) => void = nothing;
  const app = new App({
    login: {
      status: async () => ({ ...NOT_LOGGED_IN, authenticated: true, scopes: ['read', 'write', 'approve'] }),
      login: async () => undefined,
      setUp: async () => undefined,
      changePassword: async () => undefined,
      logout: async () => undefined,
    },
    files: {
      pending: async () => [],
      upload: () => Promise.reject(),
      importConversation: () => Promise.reject(),
      remove: async () => undefined,
    },
    openClient: ({ onStatus }) => {
      tell = onStatus as typeof tell; // only statuses of this file
      return fake.client;
    },
    schedule: (run) => run(),
    isVisible: () => true,
    memory: OF_NOBODY,
    lasting: OF_NOBODY,
    appearance: new Appearance({ memory: OF_NOBODY, asksForContrast: () => false, apply: nothing }),
    newKey: () => 'key',
    now: wallClock.now,
    timeZone: 'UTC',
    fragment: { read: () => '', clear: nothing },
    search: { read: () => '', clear: nothing },
  });
  await app.start();
  tell({ kind: 'open', hello: { server: { version: '1', connId: 'c' } } } as never); // all that the page reads of it
  const { value: phase } = app.phase;
  if (phase.kind !== 'desk') throw new Error('the example is not logged in');
  await new Promise<void>((resolve) => void systemTimers.after(50, resolve)); // the list is answered in a turn of its own
  const [tab] = phase.desk.workstreams.tabs.value;
  if (!tab) throw new Error('the example has no workstream');
  const { onSnapshot, onEvent } = fake.deliver(tab.wsId);
  onSnapshot(snapshot(), 'e:0');
  for (const [index, event] of toExampleEvents(wallClock.now()).entries()) onEvent(event, `e:${index + 1}`);
  return { app, desk: phase.desk, tab };
}
