import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../protocol/http/endpoint.ts';
import { httpEdge } from '../testing/http-edge.ts';
import { type Binding, bind } from './bind.ts';
import { createRouters } from './routers.ts';

const Any = z.looseObject({});

/** A row of a method that returns its params and its path. */
const row = (verb: Endpoint['verb'], path: Endpoint['path'], more: Partial<Endpoint> = {}): Binding => ({
  endpoint: endpoint({
    verb,
    path,
    summary: 'Made for this test.',
    scope: 'read',
    request: () => Any,
    reply: () => Any,
    ...more,
  }),
  method: 'health',
  params: (request: object) => ({ ...request, row: path }),
  reply: (result: unknown) => result,
});

const TYPED = { authorization: 'Bearer read', 'content-type': 'application/json' };

/** An edge with these additional rows. */
const edgeWith = (...bindings: Binding[]) => httpEdge({ bindings, answer: ({ params }) => params });

test('a PUT has its fields in the path and the body, and the path wins', async () => {
  await using edge = await edgeWith(row('put', '/v1/api/notes/{name}'));
  const put = { method: 'PUT', path: '/v1/api/notes/a', headers: TYPED, body: '{"name":"b","text":"c"}' };
  assert.deepEqual(await edge.sendJson(put), [200, { name: 'a', text: 'c', row: '/v1/api/notes/{name}' }]);
});

test('a PUT has the checks of a POST: body size, scope, pages of other sites', async () => {
  await using edge = await edgeWith(row('put', '/v1/api/notes/{name}', { scope: 'write' }));
  const put = { method: 'PUT', path: '/v1/api/notes/a', body: '{}' };
  const statusFor = async (headers: Record<string, string>, body = '{}') =>
    (await edge.send({ ...put, headers, body })).status;
  const writer = { ...TYPED, authorization: 'Bearer write' };
  assert.deepEqual(
    [
      await statusFor({}),
      await statusFor(TYPED),
      await statusFor({ ...writer, origin: 'http://evil.test' }),
      await statusFor(writer, 'x'.repeat(1_048_577)),
      await statusFor(writer),
    ],
    [401, 403, 403, 413, 200],
  );
});

test('a DELETE has its fields in the path and the query', async () => {
  await using edge = await edgeWith(row('delete', '/v1/api/notes/{name}'));
  const sent = { method: 'DELETE', path: '/v1/api/notes/a?force=1&name=b', headers: TYPED };
  assert.deepEqual(await edge.sendJson(sent), [200, { force: '1', name: 'a', row: '/v1/api/notes/{name}' }]);
});

const moved = endpoint({
  verb: 'get',
  path: '/v1/api/notes',
  summary: 'Made for this test.',
  scope: 'read',
  request: () => Any,
  reply: () => Any,
  status: 302,
});
const renamings = { params: () => ({}), reply: () => ({}) };
// @ts-expect-error a 302 has a Location
bind(moved, 'health', renamings);
// @ts-expect-error a 302 has a Location, whatever its other headers
bind(moved, 'health', { ...renamings, headers: () => ({ 'Cache-Control': 'no-store' }) });

test('a row may answer 201, 204 without a body, or 302 with a location', async () => {
  await using edge = await edgeWith(
    row('post', '/v1/api/notes', { status: 201 }),
    row('delete', '/v1/api/notes', { status: 204 }),
    bind(moved, 'health', { ...renamings, headers: () => ({ Location: '/v1/api/others' }) }),
  );
  const answers = [];
  for (const method of ['POST', 'DELETE', 'GET']) {
    const { status, headers, text } = await edge.send({ method, path: '/v1/api/notes', headers: TYPED });
    const { date: _date, connection: _connection, 'x-request-id': _id, ...told } = headers;
    answers.push([status, text, told]);
  }
  const cors = { 'access-control-allow-origin': '*' };
  assert.deepEqual(answers, [
    [201, '{"row":"/v1/api/notes"}', { ...cors, 'content-type': 'application/json', 'content-length': '23' }],
    [204, '', cors],
    [302, '', { ...cors, location: '/v1/api/others', 'content-length': '0' }],
  ]);
  assert.deepEqual(
    edge.counted.map((counted) => [counted].flat().at(-1)),
    [201, 204, 302],
  );
});

test('a field that may contain slashes takes the rest of the path, decoded', async () => {
  await using edge = await edgeWith(row('get', '/v1/api/files/{+path}'));
  const pathOf = async (path: string) => {
    const [status, body] = await edge.sendJson({ path, headers: TYPED });
    return [status, Reflect.get(Object(body), 'path')];
  };
  assert.deepEqual(await pathOf('/v1/api/files/a/b%20c/d.txt'), [200, 'a/b c/d.txt']);
  assert.deepEqual(await pathOf('/v1/api/files/a%2Fb'), [200, 'a/b']);
  assert.equal((await edge.send({ path: '/v1/api/files/', headers: TYPED })).status, 404);
});

test('the most specific path is matched, whatever the order of the rows', async () => {
  const paths = ['/v1/api/jobs/{+rest}', '/v1/api/jobs/{id}', '/v1/api/jobs/{id}/runs', '/v1/api/jobs/due'] as const;
  await using edge = await edgeWith(...paths.map((path) => row('get', path)));
  const found = [];
  for (const path of ['due', '7', '7/runs', '7/others', 'due/runs'])
    found.push(Reflect.get(Object((await edge.sendJson({ path: `/v1/api/jobs/${path}`, headers: TYPED }))[1]), 'row'));
  assert.deepEqual(found, [
    '/v1/api/jobs/due',
    '/v1/api/jobs/{id}',
    '/v1/api/jobs/{id}/runs',
    '/v1/api/jobs/{+rest}',
    '/v1/api/jobs/{id}/runs',
  ]);
});

test('a field is decoded; a `%` that is not an escape is literal', async () => {
  await using edge = await edgeWith(row('get', '/v1/api/notes/{name}'));
  const names = {
    'a%20b': 'a b',
    'a%2Fb': 'a/b',
    '100%': '100%',
    '%zz': '%zz',
    '%ff': '%ff',
    '%ed%a0%80': '%ed%a0%80',
  };
  for (const [sent, name] of Object.entries({ ...names, '%F0%9F%98%80': '😀', 'a#b': 'a#b', 'a\\b': 'a\\b' })) {
    const [status, body] = await edge.sendJson({ path: `/v1/api/notes/${sent}`, headers: TYPED });
    assert.deepEqual([sent, status, Reflect.get(Object(body), 'name')], [sent, 200, name]);
  }
});

test('a path must match its row exactly: case, slashes and encodings matter', async () => {
  await using edge = await edgeWith(row('get', '/v1/api/notes/{name}'));
  const paths = ['notes/a/', 'notes//a', 'Notes/a', 'notes%2Fa', '/notes/a', 'notes/', 'notes', 'n%6ftes/a'];
  for (const path of paths)
    assert.equal((await edge.send({ path: `/v1/api/${path}`, headers: TYPED })).status, 404, path);
});

test('a HEAD is answered if the GET answers JSON, and is not found elsewhere', async () => {
  await using edge = await edgeWith(
    row('get', '/v1/api/notes'),
    row('get', '/v1/api/notes/file', { answers: 'file' }),
    row('post', '/v1/api/notes/new'),
  );
  const statusOf = async (path: string) => (await edge.send({ method: 'HEAD', path, headers: TYPED })).status;
  assert.deepEqual(
    [await statusOf('/v1/api/notes'), await statusOf('/v1/api/notes/file'), await statusOf('/v1/api/notes/new')],
    [200, 404, 404],
  );
});

test('a row whose path begins with a field is refused', () => {
  const { endpoint: nameless } = row('get', '/{name}');
  assert.throws(() => createRouters([{ endpoint: nameless, serve: () => undefined }]), /must begin with a noun/);
});
