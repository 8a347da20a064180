import type { ServedMethod } from '../call.ts';

/** The ways to name a workstream and what is in it. */
export interface Named {
  wsId: string;
  alias: string;
  /** The name that it was created with. */
  label: string;
  runId: string;
  /** A run that waits in the queue. */
  queuedId: string;
  approvalId: string;
  callId: string;
  /** The name of a memory. */
  memory: string;
}

type Params = Record<string, unknown>;

let keys = 0;
const idempotencyKey = () => `matrix-${++keys}`;
const message = 'hello';

const inPlaces = (scopeIds: readonly string[], params: Params) =>
  scopeIds.map((scopeId) => ({ ...params, scope: 'workstream', scopeId }));

/**
 * For every method that can name a workstream: the params of each way. A test calls them for a private workstream of
 * someone else and for an unknown one. Methods that create sessions for unknown keys are at the end.
 */
export const REFERRING: Partial<Record<ServedMethod, (named: Named) => Params[]>> = {
  'agent.wait': ({ runId, wsId, alias }) =>
    [{}, { sessionKey: wsId }, { sessionKey: alias }].map((session) => ({ runId, timeoutMs: 0, ...session })),
  'chat.history': ({ wsId, alias }) => [{ sessionKey: wsId }, { sessionKey: alias }],
  'chat.abort': ({ wsId, alias, runId }) => [
    { sessionKey: wsId },
    { sessionKey: alias },
    { sessionKey: 'main', runId },
    { sessionKey: wsId, runId },
  ],
  send: ({ wsId, alias }) =>
    [wsId, alias].flatMap((to) => [
      { to, message, idempotencyKey: idempotencyKey() },
      { to, message, provider: 'workstream', idempotencyKey: idempotencyKey() },
    ]),
  'sessions.reset': ({ wsId, alias }) => [{ key: wsId }, { key: alias }],
  'sessions.delete': ({ wsId, alias }) => [{ key: wsId }, { key: alias, deleteTranscript: true }],
  'sessions.compact': ({ wsId, alias }) => [
    { key: wsId, maxLines: 5 },
    { key: alias, maxLines: 5 },
  ],
  'sessions.preview': ({ wsId, alias }) => [{ keys: [wsId, alias], limit: 5, maxChars: 100 }],
  'sessions.resolve': ({ wsId, alias, label }) => [{ key: wsId }, { key: alias }, { sessionId: wsId }, { label }],
  'events.subscribe': ({ wsId }) => [{ wsId }, { wsId, after: 'x:1' }],
  'events.unsubscribe': ({ wsId }) => [{ wsId }],
  'events.view': ({ wsId }) => [{ wsId }],
  'workstream.get': ({ wsId }) => [{ wsId }],
  'cluster.live': ({ wsId }) => [{ wsId }],
  'workstream.history': ({ wsId }) => [{ wsId }, { wsId, before: 2 }],
  'workstream.update': ({ wsId, alias }) => [
    { wsId, name: 'stolen' },
    { wsId, model: 'other' },
    { wsId: alias, name: 'stolen' },
  ],
  'workstream.send': ({ wsId }) => [
    { wsId, message },
    { wsId, message, queue: true, idempotencyKey: idempotencyKey() },
  ],
  'workstream.approve': ({ wsId, approvalId, callId }) => [
    { wsId, approved: true },
    { wsId, approved: true, approvalId },
    { wsId, approved: true, callId },
  ],
  'workstream.cancel': ({ wsId }) => [{ wsId }, { wsId, force: true }],
  'workstream.proceed': ({ wsId }) => [{ wsId }],
  'workstream.command': ({ wsId }) => [
    { wsId, command: '/clear' },
    { wsId, command: '/share everyone' },
  ],
  'workstream.commands': ({ wsId }) => [{ wsId }],
  'workstream.rewind': ({ wsId }) => [{ wsId, turns: 1 }],
  'workstream.retry': ({ wsId }) => [{ wsId }],
  'file.list': ({ wsId }) => [{ wsId }],
  'file.find': ({ wsId }) => [{ wsId }],
  'file.read': ({ wsId }) => [{ wsId, path: 'a.txt' }],
  'file.changes': ({ wsId }) => [{ wsId }],
  'file.diff': ({ wsId }) => [{ wsId, path: 'a.txt' }],
  'file.discard': ({ wsId }) => [{ wsId, path: 'a.txt', seen: '0-0-0' }],
  'checkpoint.list': ({ wsId }) => [{ wsId }],
  'checkpoint.diff': ({ wsId }) => [{ wsId }],
  'checkpoint.preview': ({ wsId }) => [{ wsId }],
  'checkpoint.undo': ({ wsId }) => [{ wsId }],
  'checkpoint.redo': ({ wsId }) => [{ wsId }],
  'workstream.edit': ({ wsId }) => [{ wsId, seq: 1, message }],
  'workstream.remove': ({ wsId }) => [{ wsId, seq: 1 }],
  'workstream.fork': ({ wsId }) => [{ wsId }],
  'workstream.export': ({ wsId }) => [
    { wsId, format: 'json' },
    { wsId, format: 'markdown' },
  ],
  'workstream.share': ({ wsId }) => [{ wsId }, { wsId, visibility: 'shared' }, { wsId, userId: 'user_bob' }],
  'workstream.open': ({ wsId }) => [{ wsId }],
  'workstream.delete': ({ wsId }) => [{ wsId }],
  'workstream.close': ({ wsId }) => [{ wsId }],
  'queue.list': ({ wsId }) => [{ wsId }],
  'queue.edit': ({ wsId, queuedId: runId }) => [{ wsId, runId, message }],
  'queue.move': ({ wsId, queuedId: runId }) => [{ wsId, runId, to: 0 }],
  'queue.steer': ({ wsId, queuedId: runId }) => [{ wsId, runId }],
  'queue.remove': ({ wsId, queuedId: runId }) => [{ wsId, runId }],
  'output.read': ({ wsId, callId }) => [{ wsId, callId }],
  'subagent.list': ({ wsId }) => [{ wsId }],
  'subagent.messages': ({ wsId }) => [{ wsId, agentId: 'agt_1' }],
  'subagent.cancel': ({ wsId }) => [{ wsId, agentId: 'agt_1' }],
  'skill.available': ({ wsId }) => [{ wsId }],
  'background.list': ({ wsId }) => [{ wsId }],
  'background.output': ({ wsId }) => [{ wsId, commandId: 'bg_1' }],
  'background.kill': ({ wsId }) => [{ wsId, commandId: 'bg_1' }],
  'coordinator.list': ({ wsId }) => [{ wsId }],
  'coordinator.children': ({ wsId }) => [{ wsId }],
  'coordinator.tasks': ({ wsId }) => [{ wsId }],
  'coordinator.metrics': ({ wsId }) => [{ wsId }],
  'coordinator.trust': ({ wsId }) => [{ wsId, send: true }],
  'coordinator.restrict': ({ wsId }) => [{ wsId, revoke: ['bash'] }],
  'coordinator.stop': ({ wsId }) => [{ wsId }],
  'coordinator.close': ({ wsId }) => [{ wsId }],
  'watch.list': ({ wsId }) => [{ wsId, ended: true }],
  'watch.admin.list': ({ wsId }) => [{ wsId }],
  'assessment.list': ({ wsId }) => [{ wsId }],
  'verdict.list': ({ wsId }) => [{ wsId }],
  'usage.get': ({ wsId }) => [
    { wsId, by: 'run' },
    { wsId, by: 'day' },
  ],
  'budget.list': ({ wsId }) => [{ wsId }],
  'budget.set': ({ wsId }) => [{ wsId, tokens: 5 }],
  'approval.list': ({ wsId }) => [{ wsId }],
  'approval.resolve': ({ approvalId }) => [{ approvalId, approved: true }],
  'plan.resolve': ({ wsId, approvalId }) => [
    { wsId, feedback: '' },
    { wsId, feedback: '', approvalId },
  ],
  'rule.list': ({ wsId }) => [{ wsId }],
  'rule.create': ({ wsId }) => [{ wsId, action: 'deny', match: { program: 'canary' } }],
  'workstream.create': ({ wsId, alias, label }) => [
    ...[wsId, wsId.slice(0, 8), alias, label].map((resumeWs) => ({ resumeWs })),
    { parentWsId: wsId },
  ],
  'sessions.patch': ({ wsId, alias }) => [
    { key: wsId, thinkingLevel: 'low' },
    { key: alias, thinkingLevel: 'low' },
  ],
  'chat.send': ({ wsId, alias }) =>
    [wsId, alias].map((sessionKey) => ({ sessionKey, message, idempotencyKey: idempotencyKey() })),
  'memory.list': ({ wsId, alias }) => inPlaces([wsId, alias], {}),
  'memory.search': ({ wsId, alias, memory: query }) => inPlaces([wsId, alias], { query }),
  'memory.get': ({ wsId, alias, memory: name }) => inPlaces([wsId, alias], { name }),
  'memory.save': ({ wsId, alias, memory: name }) => inPlaces([wsId, alias], { name, content: 'mine' }),
  'memory.delete': ({ wsId, alias, memory: name }) => inPlaces([wsId, alias], { name }),
  'memory.quarantine.list': ({ wsId, alias }) => inPlaces([wsId, alias], {}),
  'memory.admin.list': ({ wsId }) => [{ scope: 'workstream', scopeId: wsId }, { scopeId: wsId }],
  'memory.admin.search': ({ wsId, memory: query }) => [{ query, scope: 'workstream', scopeId: wsId }],
  agent: ({ wsId, alias }) => [
    { sessionKey: wsId, message, idempotencyKey: idempotencyKey() },
    { sessionId: wsId, message, idempotencyKey: idempotencyKey() },
    { sessionKey: alias, sessionId: wsId, message, idempotencyKey: idempotencyKey() },
    { sessionKey: alias, message, idempotencyKey: idempotencyKey() },
  ],
};

/** Params by which a method could name a workstream, unless the method is listed above or below. */
export const NAMING = [
  ...['wsId', 'sessionKey', 'sessionId', 'key', 'keys', 'label', 'runId', 'approvalId', 'callId', 'cycleId'],
  ...['resumeWs', 'parentWsId', 'to', 'scopeId'],
];

/** Methods with such a param that names something else. */
export const OTHERWISE: Partial<Record<ServedMethod, string>> = {
  'settings.set': 'key names a setting',
  'settings.reset': 'key names a setting',
};

/** Reads that name no workstream, but could tell of one. */
export const TELLING: Partial<Record<ServedMethod, Params[]>> = {
  'workstream.list': [{}],
  'workstream.saved': [{}, { search: 'canary' }],
  'workstream.find': [{ query: 'canary' }],
  'workstream.dashboard': [{}],
  'cluster.overview': [{}],
  'cluster.status': [{}],
  'cluster.nodes': [{}],
  'cluster.workstreams': [{}, { search: 'canary' }],
  'cluster.snapshot': [{}],
  'usage.report': ['day', 'hour', 'model', 'user'].map((groupBy) => ({ groupBy })),
  'sessions.list': [{}],
  status: [{}],
  health: [{}],
  'health.history': [{}],
  'system-presence': [{}],
  'last-heartbeat': [{}],
  'approval.list': [{}],
  'usage.get': ['day', 'model', 'workstream', 'run'].map((by) => ({ by })),
  'budget.list': [{}],
  'cron.list': [{ includeDisabled: true }],
  'cron.status': [{}],
  'cron.calendar': [{ fromMs: 0, untilMs: 86_400_000 }],
  'schedule.list': [{}],
  'models.list': [{}],
  'memory.list': [{}],
  'memory.search': [{ query: 'canary' }],
  'memory.quarantine.list': [{}],
  'memory.admin.list': [{}, { scope: 'workstream' }],
  'memory.admin.search': [{ query: 'canary' }],
  'node.list': [{}],
  'config.get': [{}],
  'template.list': [{}],
  'wstemplate.list': [{}],
  'skill.list': [{}],
  'skill.details': [{}],
  'policy.simulate': [{ policies: [] }],
  'assessment.list': [{}],
  'verdict.list': [{}],
  'coordinator.list': [{}],
  'watch.list': [{ ended: true }],
  'watch.admin.list': [{}],
  'rule.list': [{}],
  'rule.simulate': [{}],
};
