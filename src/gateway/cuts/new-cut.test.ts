import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnitRefused } from '../store/store.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { countCurrent } from '../workstreams/workstream-data.ts';
import { planCut } from './new-cut.ts';
import { say } from './take-back-fixture.ts';

for (const [what, change] of [
  ['that was emptied', { command: '/clear' }],
  ['that has gone on', undefined],
] as const) {
  test(`a cut of a conversation ${what} since it was planned is refused`, async () => {
    await using gateway = await wholeGateway();
    const { store } = gateway;
    const wsId = await gateway.main();
    await say(gateway, 'a', 'b');
    const { data } = gateway.mainWorkstream();
    const event = { type: 'rewound', after_seq: 2, reason: 'retry' } as const;
    const cut = { kind: 'rewind', afterSeq: 2, toSeq: data.messageCount, event } as const;
    const { statements } = await planCut(data, cut, { store, nowMs: 1 });
    await (change ? gateway.call('workstream.command', { wsId, ...change }) : say(gateway, 'c'));
    const before = countCurrent(data);
    await assert.rejects(store.commit({ statements }), UnitRefused);
    await gateway.restart();
    assert.equal(countCurrent(gateway.mainWorkstream().data), before);
  });
}
