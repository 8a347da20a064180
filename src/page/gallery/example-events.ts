import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { item } from '../state/conversation/conversation-fixture.ts';

type Outcome = Extract<StreamEvent, { type: 'tool_result' }>['outcome'];

export const DIFF = `--- a/src/watering.js
+++ b/src/watering.js
@@ -1,4 +1,5 @@
 export function daysUntilWater({ wateredOn, everyDays }, today) {
   const passed = Math.floor((today - wateredOn) / 86_400_000);
-  return everyDays - passed;
+  // A plant that is overdue needs water today.
+  return Math.max(0, everyDays - passed);
 }
`;

export const MARKDOWN = `An overdue plant gets **-2** where the test expects *0*. See \`watering.js\`.

| Plant | Every | Days left |
|---|---:|---:|
| Basil | 3 | 0 |
| Fern | 2 | 1 |

\`\`\`js
const left = Math.max(0, everyDays - passed); // never below zero
\`\`\`

> A plant that is overdue needs water today.

- [x] read the code
- [ ] add a test
`;

const ENDINGS: Record<NonNullable<Outcome>, string> = {
  done: 'ok 1 - \u001b[32mall is well\u001b[0m',
  failed: '\u001b[31mnot ok 1\u001b[0m - expected 0',
  denied: 'Denied.',
  expired: 'Nobody answered in time.',
  blocked: 'Blocked by a policy.',
  cancelled: 'Stopped.',
  unknown: '',
};

/** One call for each way in which calls end, and one that runs. */
const calls = Object.entries(ENDINGS).flatMap(([outcome, output]): StreamEvent[] => [
  { type: 'tool_info', items: [item(`npm test # ${outcome}`)] },
  {
    ...{ type: 'tool_result', call_id: `npm test # ${outcome}`, name: 'bash', output },
    ...{ outcome: outcome as NonNullable<Outcome>, is_error: outcome !== 'done' }, // a key of the record above
  },
]);

const edit: Partial<ApprovalItem> = {
  ...{ header: 'edit_file: src/watering.js', subject: 'src/watering.js', func_name: 'edit_file' },
  ...{ approval_label: 'edit_file', preview: DIFF, preview_type: 'diff' },
};

/** A conversation with messages, all tool cards, notes and a question that waits. */
export const toExampleEvents = (nowMs: number): readonly StreamEvent[] => [
  { type: 'user_turn', message: 'Why does the test of the watering fail?', source: 'person', run_id: 'r' },
  { type: 'thinking_start' },
  { type: 'thinking_stop' },
  { type: 'content', text: MARKDOWN },
  { type: 'stream_end' },
  ...calls,
  { type: 'info', message: 'The model is now small.' },
  { type: 'error', message: 'The model server answered 503.' },
  { type: 'ws_state', ws_id: 'w', state: 'attention' },
  {
    ...{ type: 'approve_request', approval_id: 'q', kind: 'tools', expires_at_ms: nowMs + 3_600_000 },
    items: [item('edit', edit), item('rm -rf build && npm test')],
  },
];
