import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalTable, RunTable } from '../../../src/gateway/store/schema/schema.ts';
import type { CallHistory, WorkstreamOnDisk } from '../evidence.ts';
import { createRandom } from '../random.ts';
import { CLUSTER_DEFECTS } from './cluster-defects.ts';
import type { ClusterEvidence } from './cluster-evidence.ts';
import { CLUSTER_RULES, checkCluster } from './cluster-rules.ts';

const SEEDS = [1, 2, 3, 4, 5];

/** Three daemons hold the lease, one after the other; each accepts a message, and each question is decided twice. */
function story(): ClusterEvidence {
  const machines = ['one', 'two', 'three'];
  return {
    story: {
      disk: { epoch: 'e', workstreams: [talk(machines)], usage: [], grants: [], memories: [] },
      calls: machines.flatMap(callsAt),
    },
    writes: machines.flatMap((machine, index) =>
      ['events', 'runs'].map((table, place) => {
        const first = 100 * index + 10 * place + 1;
        return {
          ...{ first, last: first + 50, table, machine, owner: machine },
          epoch: index + 1,
          session: `s${index}`,
        };
      }),
    ),
    recoveries: machines.map((machine) => ({
      ...{ round: 1, faults: 'kill active', machine, attempts: 40, isServed: true },
    })),
    ends: [
      { machine: 'one', code: null, isAsked: true, stderr: '' },
      { machine: 'two', code: 1, isAsked: false, stderr: 'Another daemon has taken over, because' },
    ],
    states: machines.map((machine) => ({ machine, state: machine === 'three' ? 'active' : 'standby' })),
  };
}

const talk = (machines: readonly string[]): WorkstreamOnDisk => ({
  ...{ wsId: 'w', name: 'w', messageCount: 0, runEpoch: 0, events: [], eventRows: 0, messages: [] },
  ...{ cuts: [], agents: [], watches: [] },
  runs: machines.map((machine) => {
    const message = { message: `message ${machine}` };
    const run = { run_id: `run_${machine}`, ws_id: 'w', request_json: JSON.stringify(message) } as RunTable;
    return { run, journal: [] };
  }),
  // The rules read no other columns.
  approvals: machines.map((machine) => ({ approval_id: `ask_${machine}`, kind: 'tool' }) as unknown as ApprovalTable),
});

function callsAt(machine: string): CallHistory[] {
  const approvalId = `ask_${machine}`;
  const call = (method: string, params: object, answer: { ok: boolean; code?: string }): CallHistory => ({
    ...{ method, params: { wsId: 'w', ...params }, sentMs: 1 },
    answers: [{ atMs: 2, ...answer }],
  });
  return [
    call('workstream.send', { message: `message ${machine}` }, { ok: true }),
    call('workstream.approve', { approvalId, approved: true }, { ok: true }),
    call('approval.resolve', { approvalId, approved: false }, { ok: false, code: 'CONFLICT' }),
  ];
}

test('correct evidence of three daemons has no findings', () => {
  assert.deepEqual(checkCluster(story()), []);
});

for (const { name, rule, apply } of CLUSTER_DEFECTS) {
  test(`${name}: found by the rule "${rule}"`, () => {
    for (const seed of SEEDS) {
      const evidence = story();
      apply(evidence, createRandom(seed));
      const found = new Set(checkCluster(evidence).map((violation) => violation.rule));
      assert.ok(found.has(rule), `seed ${seed}: found only ${[...found].join(', ') || 'nothing'}`);
    }
  });
}

test('every rule about several daemons finds at least one defect', () => {
  const found = new Set(CLUSTER_DEFECTS.map(({ rule }) => rule));
  assert.deepEqual(
    Object.keys(CLUSTER_RULES).filter((rule) => !found.has(rule as keyof typeof CLUSTER_RULES)),
    [],
  );
});
