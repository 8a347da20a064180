import assert from 'node:assert/strict';
import { z } from 'zod';
import { type Endpoint, hasBody } from '../../protocol/http/endpoint.ts';
import { ENDPOINTS } from '../../protocol/http/index.ts';
import type { ClockedDaemon } from '../support/daemon/clocked-daemon.ts';

/** A private workstream and what is in it, by the fields of requests that name them. */
interface Named {
  ws_id: string;
  /** Its alias, and the name of its memory. As long as that of the unknown one, because lengths are compared. */
  name: string;
  attachment_id: string;
  cycle_id: string;
  call_id: string;
  msg_id: string;
  memory_id: string;
  watch_id: string;
}

type Fields = Record<string, unknown>;

const message = 'hi';
const approved = false;
const inPlace = ({ ws_id }: Named, fields: Fields = {}) => ({ scope: 'workstream', scope_id: ws_id, ...fields });
const it = ({ ws_id }: Named): Fields[] => [{ ws_id }];
const decisions = ({ ws_id, cycle_id, call_id }: Named): Fields[] => [
  { ws_id, approved },
  { ws_id, approved, cycle_id },
  { ws_id, approved, call_id },
];
const resumptions = ({ ws_id, name }: Named): Fields[] =>
  [ws_id, ws_id.slice(0, 12), name].map((resume_ws) => ({ resume_ws }));
const own = '/v1/api/workstreams/{ws_id}';

/** For each route that can name a workstream, or something in one: the fields of each way to do so. */
export const NAMING_ROUTES: Record<string, (named: Named) => Fields[]> = {
  [`GET ${own}`]: it,
  [`GET ${own}/history`]: ({ ws_id }) => [{ ws_id }, { ws_id, before: 1 }],
  [`GET ${own}/events`]: ({ ws_id }) => [{ ws_id }, { ws_id, last_event_id: 'x:1' }],
  'GET /v1/api/events': ({ ws_id }) => [{ ws_id }, { ws_id, history: 1, snapshot: true }],
  [`GET ${own}/export`]: ({ ws_id }) => [{ ws_id }, { ws_id, format: 'markdown' }],
  'GET /v1/api/route': it,
  'GET /v1/api/route/workstreams/{ws_id}/live': it,
  [`GET ${own}/attachments`]: it,
  [`GET ${own}/attachments/{attachment_id}/content`]: ({ ws_id, attachment_id }) => [{ ws_id, attachment_id }],
  [`DELETE ${own}/attachments/{attachment_id}`]: ({ ws_id, attachment_id }) => [{ ws_id, attachment_id }],
  [`POST ${own}/attachments`]: it,
  [`GET ${own}/skills`]: it,
  [`GET ${own}/background`]: it,
  [`GET ${own}/agents`]: it,
  [`GET ${own}/agents/{agent_id}/messages`]: ({ ws_id }) => [{ ws_id, agent_id: 'agt_1' }],
  [`POST ${own}/agents/{agent_id}/cancel`]: ({ ws_id }) => [{ ws_id, agent_id: 'agt_1' }],
  [`GET ${own}/background/{command_id}/output`]: ({ ws_id }) => [{ ws_id, command_id: 'bg_1' }],
  [`GET ${own}/children`]: it,
  [`GET ${own}/tasks`]: it,
  [`GET ${own}/metrics`]: it,
  ...Object.fromEntries(
    ['/v1/api/coordinator/{ws_id}', own].flatMap((place) => [
      [`POST ${place}/trust`, ({ ws_id }: Named): Fields[] => [{ ws_id, send: true }]],
      [`POST ${place}/restrict`, ({ ws_id }: Named): Fields[] => [{ ws_id, revoke: ['bash'] }]],
      [`POST ${place}/stop_cascade`, it],
    ]),
  ),
  [`POST ${own}/close_all_children`]: it,
  'GET /v1/api/watches': it,
  'GET /v1/api/admin/watches': it,
  'POST /v1/api/watches/{watch_id}/cancel': ({ watch_id }) => [{ watch_id }],
  [`POST ${own}/background/{command_id}/kill`]: ({ ws_id }) => [{ ws_id, command_id: 'bg_1' }],
  [`POST ${own}/send`]: ({ ws_id, attachment_id }) => [
    { ws_id, message },
    { ws_id, message, attachment_ids: [attachment_id] },
  ],
  [`DELETE ${own}/send`]: ({ ws_id, msg_id }) => [{ ws_id, msg_id }],
  'POST /v1/api/send': ({ ws_id, attachment_id }) => [
    { ws_id, message },
    { ws_id, message, attachment_ids: [attachment_id] },
  ],
  [`POST ${own}/approve`]: decisions,
  'POST /v1/api/approve': (named) => [
    ...decisions(named),
    { ws_id: named.ws_id, approved, approval_id: named.cycle_id },
  ],
  'POST /v1/api/plan': ({ ws_id, cycle_id }) => [
    { ws_id, feedback: '' },
    { ws_id, feedback: 'no', approval_id: cycle_id },
  ],
  [`POST ${own}/cancel`]: it,
  'POST /v1/api/cancel': ({ ws_id }) => [{ ws_id }, { ws_id, force: true }],
  'POST /v1/api/command': ({ ws_id }) => ['/help', '/share everyone'].map((command) => ({ ws_id, command })),
  [`POST ${own}/rewind`]: ({ ws_id }) => [{ ws_id, turns: 1 }],
  [`POST ${own}/retry`]: it,
  [`GET ${own}/files`]: it,
  [`GET ${own}/files/find`]: it,
  [`GET ${own}/files/content`]: ({ ws_id }) => [{ ws_id, path: 'a.txt' }],
  [`GET ${own}/files/changes`]: it,
  [`GET ${own}/files/diff`]: ({ ws_id }) => [{ ws_id, path: 'a.txt' }],
  [`POST ${own}/files/discard`]: ({ ws_id }) => [{ ws_id, path: 'a.txt', seen: '0-0-0' }],
  [`GET ${own}/checkpoints`]: it,
  [`GET ${own}/diff`]: it,
  [`POST ${own}/undo/preview`]: it,
  [`POST ${own}/undo`]: it,
  [`POST ${own}/redo`]: it,
  [`POST ${own}/title`]: ({ ws_id }) => [{ ws_id, title: 'stolen' }],
  [`POST ${own}/refresh-title`]: it,
  [`POST ${own}/share`]: ({ ws_id }) => [{ ws_id }, { ws_id, visibility: 'shared' }],
  [`POST ${own}/open`]: it,
  [`POST ${own}/close`]: it,
  'POST /v1/api/workstreams/close': it,
  [`DELETE ${own}`]: it,
  [`POST ${own}/delete`]: it,
  'POST /v1/api/route/workstreams/move': ({ ws_id }) => [{ ws_id, target_node: 'desk_1a2b' }],
  'POST /v1/api/route/workstreams/delete': it,
  'POST /v1/api/workstreams/new': resumptions,
  'POST /v1/api/cluster/workstreams/new': resumptions,
  'POST /v1/api/route/workstreams/new': resumptions,
  'GET /v1/api/admin/output-assessments': it,
  'GET /v1/api/admin/verdicts': it,
  'GET /v1/api/rules': it,
  'POST /v1/api/rules': ({ ws_id }) => [{ ws_id, action: 'deny', match: { tool: 'none' } }],
  'GET /v1/api/memories': (named) => [inPlace(named)],
  'POST /v1/api/memories': (named) => [inPlace(named, { name: 'mine', content: 'mine' })],
  'POST /v1/api/memories/search': (named) => [inPlace(named, { query: named.name })],
  'GET /v1/api/memories/{name}': (named) => [inPlace(named, { name: named.name })],
  'DELETE /v1/api/memories/{name}': (named) => [inPlace(named, { name: named.name })],
  'GET /v1/api/quarantined-memories': (named) => [inPlace(named)],
  'POST /v1/api/quarantined-memories/{memory_id}/release': ({ memory_id }) => [{ memory_id }],
  'DELETE /v1/api/quarantined-memories/{memory_id}': ({ memory_id }) => [{ memory_id }],
  'GET /v1/api/admin/memories': (named) => [inPlace(named)],
  'GET /v1/api/admin/memories/search': (named) => [inPlace(named, { q: named.name })],
  'GET /v1/api/admin/memories/{memory_id}': ({ memory_id }) => [{ memory_id }],
  'DELETE /v1/api/admin/memories/{memory_id}': ({ memory_id }) => [{ memory_id }],
};

/** Fields by which a request could name a workstream, or something in one. */
const NAMING_FIELDS = [
  ...['ws_id', 'resume_ws', 'scope_id', 'parent_ws_id', 'attachment_id', 'attachment_ids'],
  ...['msg_id', 'run_id', 'approval_id', 'cycle_id', 'call_id', 'memory_id', 'session_key', 'after', 'last_event_id'],
  ...['watch_id', 'agent_id', 'command_id'],
];

const rows = Object.values(ENDPOINTS).flatMap((group) => Object.values<Endpoint>(group));
const routeOf = ({ verb, path }: Endpoint): string => `${verb.toUpperCase()} ${path}`;

/** The routes with such a field. */
export const routesThatName = (): string[] =>
  rows
    .filter(({ request }) => {
      const { properties, allOf } = z.toJSONSchema(request(), { io: 'input', unrepresentable: 'any' });
      const fields = { ...properties, ...Object.assign({}, ...(allOf ?? []).map((part) => part.properties)) };
      return NAMING_FIELDS.some((name) => Object.hasOwn(fields, name));
    })
    .map(routeOf);

/** The request for a route, which may have a prefix. */
function requestFor(route: string, asked: Fields, as = route): [string, RequestInit] {
  const row = rows.find((known) => routeOf(known) === route);
  const [method = '', path = ''] = as.split(' ');
  const fields = { ...asked };
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(fields[name]);
    delete fields[name];
    return value;
  });
  if (row?.body === 'multipart') {
    const form = new FormData();
    form.append('file', new Blob(['text'], { type: 'text/plain' }), 'mine.txt');
    return [target, { method, body: form }];
  }
  if (!row || !hasBody(row.verb))
    return [`${target}?${new URLSearchParams(fields as Record<string, string>)}`, { method }];
  return [target, { method, body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } }];
}

export const UNKNOWN: Named = {
  ...{ ws_id: 'f'.repeat(32), name: 'nowhere', attachment_id: `att_${'f'.repeat(32)}`, memory_id: 'f'.repeat(32) },
  ...{ cycle_id: `apr_${'f'.repeat(32)}`, call_id: 'nowhere-call', msg_id: 'nowhere-msg' },
  ...{ watch_id: `wat_${'f'.repeat(32)}` },
};

interface Asking {
  named: Named;
  /** Which of the route's ways to name it; default: the first. */
  at?: number;
  headers: Record<string, string>;
  /** The route below a prefix. */
  as?: string | undefined;
}

type Sending = Pick<Asking, 'headers' | 'as'> & { signal?: AbortSignal };

let names = 0;

/** Makes private workstreams, and asks for them. */
export function privateRoutes(daemon: Pick<ClockedDaemon, 'fetch' | 'clock'>) {
  const ask = (route: string, fields: Fields, { headers, as, signal }: Sending) => {
    const [target, init] = requestFor(route, fields, as);
    return daemon.fetch(target, {
      ...init,
      headers: { ...init.headers, ...headers, ...NAMED_REQUEST },
      ...(signal && { signal }),
    });
  };

  async function served(route: string, fields: Fields, headers: Record<string, string>) {
    const answer = await ask(route, fields, { headers });
    assert.ok(answer.ok, `${route} answered ${answer.status}`);
    return answer.json();
  }

  return {
    /** With a file and a memory. */
    async newHidden(owner: Record<string, string>): Promise<Named> {
      names += 1;
      const name = `canary${names}`;
      const { ws_id } = await served('POST /v1/api/workstreams/new', { visibility: 'private' }, owner);
      await served('POST /v1/api/command', { ws_id, command: `/name ${name}` }, owner);
      const memory = { name, content: name, scope: 'workstream', scope_id: ws_id };
      const { memory_id } = await served('POST /v1/api/memories', memory, owner);
      const { attachment_id } = await served(`POST ${own}/attachments`, { ws_id }, owner);
      return { ...UNKNOWN, ws_id, name, memory_id, attachment_id };
    },

    /** Adds a question, and a message that waits. */
    async converse(owner: Record<string, string>, { ws_id, name, ...named }: Named): Promise<Named> {
      await served(`POST ${own}/send`, { ws_id, message: `write ${name}.txt: ${name}`, attachment_ids: [] }, owner);
      for (;;) {
        const { pending_approval: asked } = await served(`GET ${own}`, { ws_id }, owner);
        if (asked === undefined) {
          await daemon.clock.advance(100); // the model of a demo takes its time
          continue;
        }
        const { msg_id } = await served(`POST ${own}/send`, { ws_id, message: 'waits', attachment_ids: [] }, owner);
        return { ...named, ws_id, name, cycle_id: asked.cycle_id, call_id: asked.items[0].call_id, msg_id };
      }
    },

    /** What a route answers, as far as two answers can be compared. */
    async answerTo(route: string, { named, at = 0, headers, as }: Asking): Promise<string> {
      const stop = new AbortController();
      const fields = NAMING_ROUTES[route]?.(named)[at] ?? {};
      const text = await comparable(await ask(route, fields, { headers, as, signal: stop.signal }), named);
      stop.abort(); // some are streams
      return text;
    },
  };
}

/** Answers repeat it, and the ids that the daemon gives have different lengths. */
const NAMED_REQUEST = { 'x-request-id': 'private-routes' };

/** An answer without what differs between any two: what it was asked for, fresh ids and times. */
async function comparable(answer: Response, named: Named): Promise<string> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const headers = [...answer.headers].filter(([name]) => name !== 'date');
  let text = JSON.stringify([answer.status, headers, isStream ? 'a stream' : await answer.text()]);
  for (const [what, value] of Object.entries(named)) text = text.replaceAll(value, `<${what}>`);
  return text
    .replaceAll(named.ws_id.slice(0, 12), '<ws_id>')
    .replaceAll(/[0-9a-f]{32}/g, '<id>')
    .replaceAll(/ws-[0-9a-f]{4}/g, '<name>');
}
