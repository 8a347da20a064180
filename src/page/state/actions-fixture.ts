import assert from 'node:assert/strict';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { createActions } from './actions.ts';
import { snapshot } from './conversation/conversation-fixture.ts';
import { createFakeClient } from './fake-client.ts';
import { openTab } from './tab.ts';

interface Options {
  schedule?(run: () => void): void;
  upload?(): Promise<Attachment>;
  /** The files that may be sent again. */
  pending?: readonly Attachment[];
}

const NO_UPLOAD = () => assert.fail('nothing is mentioned');

/** The actions of a tab, over a client whose answers the test gives. */
export function openActions({ schedule = (run) => run(), upload = NO_UPLOAD, pending = [] }: Options = {}) {
  const fake = createFakeClient();
  const shown: string[] = [];
  const kept: string[] = [];
  const drafts = { find: () => '', findFiles: () => [], keep: (_wsId: string, text: string) => void kept.push(text) };
  let keys = 0;
  const actions = createActions({
    client: fake.client,
    workstreams: {
      show: async (wsId) => void shown.push(wsId),
      share: async ({ wsId }, { visibility }) => void shown.push(`${wsId} ${visibility}`),
    },
    newKey: () => `key${++keys}`,
    files: { upload, pending: async () => [...pending] },
    ownId: () => 'ada',
  });
  const tab = openTab(snapshot().workstream, {
    client: fake.client,
    schedule,
    asides: { find: () => undefined, keep: () => undefined },
    isInFront: () => true,
    drafts,
    onRetitled: () => undefined,
    onWatch: () => undefined,
    onGone: () => undefined,
  });
  return { ...fake, actions, shown, kept, tab };
}
