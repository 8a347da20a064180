import assert from 'node:assert/strict';
import { type Denied, rewriteDenied, toRules } from '../../src/agent/permissions/corpus/denied-fixture.ts';
import { readCommand } from '../../src/agent/permissions/read-command.ts';
import { rulingOf } from '../../src/agent/run/approval/ruling.ts';
import { type BatchCall, prepareAll } from '../../src/agent/run/batch-call.ts';
import type { FakeTool } from '../../src/agent/run/fake-toolbox.ts';
import { type FixtureOptions, runFixture } from '../../src/agent/run/run-fixture.ts';
import { readCorpus } from '../effects/corpora/read-corpus.ts';
import { type Figure, toFigures } from './figure.ts';

const TOOLS: Record<string, FakeTool> = { bash: { needsApproval: true } };

/** A call of bash as the tool prepares it, without looking at files. */
async function callOf(run: ReturnType<typeof runFixture>['run'], command: string): Promise<BatchCall> {
  const call = { id: 'call', name: 'bash', arguments: JSON.stringify({ command }) };
  const reading = readCommand(command, { folder: '/work', home: '/home/me' });
  const [prepared] = await prepareAll(run, [call]);
  assert.ok(prepared);
  return { ...prepared, ruled: { names: ['bash'], command, reading } };
}

/** What the daemon decides about commands: those that would run unasked. */
async function unaskedOf<C extends { command: string }>(
  cases: readonly C[],
  optionsFor: (one: C) => FixtureOptions & { mode?: 'edits' },
): Promise<Set<{ command: string }>> {
  const unasked = new Set<{ command: string }>();
  for (const one of cases) {
    const { mode, ...options } = optionsFor(one);
    const { run } = runFixture({ ...options, tools: TOOLS });
    const settings = { ...run.settings, ...(mode && { mode }) };
    if (rulingOf({ ...run, settings }, await callOf(run, one.command)).verdict === 'run') unasked.add(one);
  }
  return unasked;
}

/** How often a harmless command would be asked about, and how often another way of writing passes a deny rule. */
export async function commandFigures(): Promise<Figure[]> {
  const harmless = readCorpus('harmless');
  const rewritten = rewriteDenied();
  const rulesOf = ({ denied }: { denied: Denied }) => ({ callRules: toRules(denied) });
  const unasked = await unaskedOf(harmless, () => ({}));
  const inEdits = await unaskedOf(rewritten, (one) => ({ ...rulesOf(one), mode: 'edits' }));
  const inFull = await unaskedOf(rewritten, (one) => ({ ...rulesOf(one), autoApprove: true }));
  const denied = { set: 'Other ways of writing denied commands', aim: 0, text: textOf };
  return [
    ...toFigures(harmless, {
      set: 'Harmless commands of everyday work',
      what: 'asked about',
      aim: 0.05,
      text: textOf,
      isHit: (one) => !unasked.has(one),
    }),
    ...toFigures(rewritten, { ...denied, what: 'ran in the mode for edits', isHit: (one) => inEdits.has(one) }),
    ...toFigures(rewritten, { ...denied, what: 'ran in the mode full', isHit: (one) => inFull.has(one) }),
  ];
}

const textOf = ({ command }: { command: string }): string => command;
