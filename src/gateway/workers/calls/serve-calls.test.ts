import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../../protocol/errors.ts';
import { CONTRACTS } from '../../../../protocol/index.ts';
import type { CallAudit } from '../../audit/call-audit.ts';
import type { Dispatch } from '../../dispatch.ts';
import { Elsewhere } from '../elsewhere.ts';
import { auditOfWorker } from './audited-elsewhere.ts';
import { serveCall } from './serve-calls.ts';

const CALL = { method: 'health', params: { a: 1 }, caller: { address: '192.0.2.1', requestId: 'r' } };
const asked = { signal: new AbortController().signal, interim: () => undefined };

test('a forwarded call is answered for its caller, with the logs that it follows', async () => {
  const about = { wsId: 'w', ownerId: '', visibility: 'shared' } as const;
  const dispatch: Dispatch = async (method, params, { address, requestId, signal, subscriptions }) => {
    subscriptions?.add(about, 3);
    return { method, params, address, requestId, isSame: signal === asked.signal };
  };
  assert.deepEqual(await serveCall(CALL, asked, dispatch), {
    result: { method: 'health', params: { a: 1 }, address: '192.0.2.1', requestId: 'r', isSame: true },
    followed: [{ about, offset: 3 }],
    isRecorded: false,
  });
});

test('an answer that is there at once, and a refusal, pass', async () => {
  assert.equal((await serveCall(CALL, asked, () => 5)).result, 5);
  const refusal = new GatewayError('NOT_FOUND', 'no');
  await assert.rejects(
    serveCall(CALL, asked, () => Promise.reject(refusal)),
    refusal,
  );
});

test('the daemon that forwards a call learns that the workstream has left this one', async () => {
  const left = new Elsewhere('v');
  const refusal = new GatewayError('UNAVAILABLE', 'v cannot be reached now', { cause: left });
  await assert.rejects(
    serveCall(CALL, asked, () => Promise.reject(refusal)),
    left,
  );
});

/** Notes how calls are recorded. */
function recordingAudit() {
  const records: string[] = [];
  const audit: CallAudit = {
    begin: ({ action }) => ({
      audited() {
        records.push(`${action} with its effect`);
        return [];
      },
      succeeded: () => void records.push(`${action} succeeded`),
      failed: () => void records.push(`${action} failed`),
    }),
  };
  return { records, audit: auditOfWorker(audit) };
}

const rowOf = (method: 'workstream.share' | 'policy.create') => {
  const { audit } = CONTRACTS[method];
  assert.ok(audit);
  return audit;
};

const SHARE = { ...CALL, method: 'workstream.share' };

test('a call that its handler records is recorded there, and any other one by the daemon that forwards it', async () => {
  const { records, audit } = recordingAudit();
  const dispatchWith =
    (isAudited: boolean): Dispatch =>
    async (_, input, caller) => {
      const record = audit.begin(rowOf('workstream.share'), { input, caller });
      if (isAudited) record.audited();
      await record.succeeded(null);
    };
  const recorded = [];
  for (const isAudited of [true, false])
    recorded.push((await serveCall(SHARE, asked, dispatchWith(isAudited))).isRecorded);
  assert.deepEqual([recorded, records], [[true, false], ['workstream.share with its effect']]);
});

test('calls that a forwarded call makes are recorded where they are made, also those of its own method', async () => {
  const { records, audit } = recordingAudit();
  const dispatch: Dispatch = async (_, input, caller) => {
    await audit.begin(rowOf('workstream.share'), { input, caller }).succeeded(null);
    await audit.begin(rowOf('policy.create'), { input, caller }).succeeded(null);
    await audit.begin(rowOf('workstream.share'), { input, caller }).succeeded(null);
  };
  assert.equal((await serveCall(SHARE, asked, dispatch)).isRecorded, false);
  assert.deepEqual(records, ['policy.create succeeded', 'workstream.share succeeded']);
});
