import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Caller, callersOf } from '../support/clients/callers.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();
const { operator, newUser } = callersOf(daemon);

const ada = await newUser('ada', ['builtin-operator']);
const bob = await newUser('bob', ['builtin-operator']);
const viewer = await newUser('vera', ['builtin-viewer']);
const admin = await newUser('root', ['builtin-admin']);

const save = (call: Caller, memory: object) => call('POST /v1/api/memories', memory);
const newWorkstream = async (): Promise<string> => (await ada.call('POST /v1/api/workstreams/new', {})).body.ws_id;
const namesOf = ({ body }: Answer): string[] => body.memories.map(({ name }: { name: string }) => name);
const search = async (call: Caller, query: string) => namesOf(await call('POST /v1/api/memories/search', { query }));

test('A new memory must answer 201, and replacing it must answer 200 and keep its id', async () => {
  const made = await save(ada.call, { name: 'replaced', content: 'one' });
  const again = await save(bob.call, { name: 'replaced', content: 'two' });
  const { updated, ...first } = made.body;
  const { updated: later, ...second } = again.body;
  assert.deepEqual([made.status, again.status, second], [201, 200, { ...first, content: 'two' }]);
  assert.deepEqual(Object.keys(made.body), [
    ...['memory_id', 'name', 'description', 'type', 'scope', 'scope_id', 'content', 'created', 'updated'],
  ]);
  assert.ok(later >= updated && first.created === second.created);
});

test('A name must be stored in lower case with `_` for spaces and hyphens, and must be found in either form', async () => {
  const { body } = await save(ada.call, { name: 'House Style-Guide/2', content: 'x' });
  const read = await ada.call(`GET /v1/api/memories/${encodeURIComponent('HOUSE-style guide/2')}`);
  assert.deepEqual([body.name, read.status, read.body], ['house_style_guide/2', 200, body]);
});

test('Saving again without a description or with the default type must keep the stored ones', async () => {
  await save(ada.call, { name: 'kept', content: 'one', description: 'what it is', type: 'reference' });
  await save(ada.call, { name: 'kept', content: 'two', description: '', type: 'project' });
  const { body } = await save(ada.call, { name: 'kept', content: 'three' });
  assert.deepEqual([body.description, body.type, body.content], ['what it is', 'reference', 'three']);
});

test('A missing, too long or unknown field of a memory must answer 400 with its rule, and nothing must be saved', async () => {
  const before = (await admin.call('GET /v1/api/admin/memories?limit=200')).body;
  const refusals: [object, RegExp][] = [
    [{ content: 'x' }, /^name is required \(max 256 characters\)$/],
    [{ name: 'n'.repeat(257), content: 'x' }, /^name is required \(max 256 characters\)$/],
    [{ name: 'x' }, /^content is required$/],
    [{ name: 'x', content: 'c'.repeat(65_537) }, /^content exceeds 65536 character limit$/],
    [{ name: 'x', content: 'x', description: 'd'.repeat(4_097) }, /^description: must have at most 4096 characters$/],
    [{ name: 'x', content: 'x', type: 'secret' }, /^invalid type/],
    [{ name: 'x', content: 'x', type: 3 }, /^invalid type/],
    [{ name: 'x', content: 'x', scope: 'team' }, /^invalid scope/],
  ];
  for (const [sent, error] of refusals) {
    const { status, body } = await save(ada.call, sent);
    assert.equal(status, 400);
    assert.match(body.error, error);
  }
  assert.deepEqual((await admin.call('GET /v1/api/admin/memories?limit=200')).body, before);
  assert.equal((await save(ada.call, { name: 'n'.repeat(256), content: 'c'.repeat(65_536) })).status, 201);
});

test('A `scope_id` must be refused in the scope `global` and without a scope, and required in the scope `workstream`', async () => {
  const refusals: [string, string][] = [
    ['scope=global&scope_id=w', 'scope_id is not allowed with global scope'],
    ['scope_id=w', 'scope is required when scope_id is provided'],
    ['scope=workstream', 'scope_id is required for workstream scope'],
  ];
  for (const [place, error] of refusals) {
    const sent = { name: 'x', content: 'x', query: 'x', ...Object.fromEntries(new URLSearchParams(place)) };
    for (const answer of [
      await ada.call(`GET /v1/api/memories?${place}`),
      await ada.call(`GET /v1/api/memories/x?${place}`),
      await ada.call(`DELETE /v1/api/memories/x?${place}`),
      await ada.call('POST /v1/api/memories', sent),
      await ada.call('POST /v1/api/memories/search', sent),
    ])
      assert.deepEqual(answer, { status: 400, body: { error } });
  }
});

test('Memories of a user must be visible only to that user, and the `scope_id` of another user must answer 403', async () => {
  const own = await save(ada.call, { name: 'pet', content: 'a cat named Momo', scope: 'user' });
  await save(bob.call, { name: 'pet', content: 'a dog', scope: 'user', scope_id: bob.id });
  assert.equal(own.body.scope_id, ada.id);
  const read = async (call: Caller) => (await call('GET /v1/api/memories/pet?scope=user')).body.content;
  assert.deepEqual([await read(ada.call), await read(bob.call)], ['a cat named Momo', 'a dog']);
  assert.deepEqual([await search(ada.call, 'momo'), await search(bob.call, 'momo')], [['pet'], []]);
  const scopes = async (call: Caller) =>
    (await call('GET /v1/api/memories?limit=200')).body.memories.map((memory: { scope_id: string }) => memory.scope_id);
  assert.deepEqual(
    [(await scopes(bob.call)).includes(ada.id), (await scopes(ada.call)).includes(ada.id)],
    [false, true],
  );
  const theirs = `scope=user&scope_id=${ada.id}`;
  const sent = { name: 'pet', content: 'x', query: 'momo', scope: 'user', scope_id: ada.id };
  for (const answer of [
    await bob.call(`GET /v1/api/memories?${theirs}`),
    await bob.call(`GET /v1/api/memories/pet?${theirs}`),
    await bob.call(`DELETE /v1/api/memories/pet?${theirs}`),
    await bob.call('POST /v1/api/memories', sent),
    await bob.call('POST /v1/api/memories/search', sent),
  ])
    assert.deepEqual(answer, { status: 403, body: { error: "Cannot access another user's memories" } });
});

test('The scope `user` must answer 400 to a caller that acts for no user', async () => {
  const refused = await operator('GET /v1/api/memories?scope=user');
  assert.deepEqual([refused.status, refused.body.error.startsWith('scope_id is required for user scope')], [400, true]);
  assert.equal((await operator(`GET /v1/api/memories?scope=user&scope_id=${ada.id}`)).status, 400);
  assert.equal((await save(operator, { name: 'x', content: 'x', scope: 'user' })).status, 400);
});

test('Memories of `global` and of shared workstreams must be visible to every caller with the scope `read`', async () => {
  await save(ada.call, { name: 'for_all', content: 'x' });
  const scope_id = await newWorkstream();
  await save(ada.call, { name: 'for_ws', content: 'x', scope: 'workstream', scope_id });
  const { body } = await viewer.call(`GET /v1/api/memories?scope=workstream&scope_id=${scope_id}`);
  assert.deepEqual([body.total, body.memories[0].name], [1, 'for_ws']);
  const listed = namesOf(await viewer.call('GET /v1/api/memories'));
  assert.ok(listed.includes('for_all') && listed.includes('for_ws'));
  assert.deepEqual(await save(viewer.call, { name: 'x', content: 'x' }), {
    status: 403,
    body: { error: "Forbidden: token lacks 'write' scope" },
  });
  assert.equal((await viewer.call('DELETE /v1/api/memories/for_all')).status, 403);
});

test('A list must begin with the memory that was saved last, and its `limit` must be lowered to 200', async () => {
  const place = { scope: 'workstream', scope_id: await newWorkstream() };
  for (let n = 0; n < 205; n += 1) await save(ada.call, { name: `n${n}`, content: 'x', ...place });
  await save(ada.call, { name: 'n0', content: 'again', ...place });
  const list = async (query: string) =>
    namesOf(await ada.call(`GET /v1/api/memories?scope=workstream&scope_id=${place.scope_id}${query}`));
  const all = await list('&limit=1000');
  assert.deepEqual([all.length, all.slice(0, 3), (await list('')).length], [200, ['n0', 'n204', 'n203'], 100]);
  const found = await ada.call('POST /v1/api/memories/search', { query: 'x', limit: 99, ...place });
  assert.deepEqual([found.body.total, namesOf(found)[0]], [50, 'n204']);
});

test('A `limit` that is not an integer must answer 400 `limit must be an integer`', async () => {
  for (const answer of [
    await ada.call('GET /v1/api/memories?limit=many'),
    await ada.call('GET /v1/api/memories?limit=1.5'),
    await ada.call('POST /v1/api/memories/search', { query: 'x', limit: 'many' }),
    await admin.call('GET /v1/api/admin/memories?limit=many'),
  ])
    assert.deepEqual(answer, { status: 400, body: { error: 'limit must be an integer' } });
});

test('A search must find the memories that contain all words in their names, descriptions or contents', async () => {
  await save(ada.call, { name: 'zebra_one', description: 'about Stripes', content: 'wild' });
  await save(ada.call, { name: 'two', description: 'a zebra', content: 'has stripes', type: 'reference' });
  await save(ada.call, { name: 'three', content: 'zebra without' });
  assert.deepEqual(
    [await search(ada.call, 'STRIPES zebra'), await search(ada.call, 'zeb'), await search(ada.call, 'zebra lion')],
    [['two', 'zebra_one'], ['three', 'two', 'zebra_one'], []],
  );
  const typed = await ada.call('POST /v1/api/memories/search', { query: 'zebra', type: 'reference' });
  assert.deepEqual(namesOf(typed), ['two']);
  for (const body of [{}, { query: ' ' }, { query: 3 }])
    assert.deepEqual(await ada.call('POST /v1/api/memories/search', body), {
      status: 400,
      body: { error: 'query is required' },
    });
});

test('No character of a query must be read as an operator', async () => {
  await save(ada.call, { name: 'operators', content: 'giraffe 🦒 c++' });
  const queries = ['"', '*', 'giraffe*', '"giraffe"', '-giraffe', 'giraffe NEAR operators', 'giraffe OR lion', '🦒'];
  const found = [];
  for (const query of queries) found.push(await search(ada.call, query));
  assert.deepEqual(found, [[], [], ...[1, 2, 3].map(() => ['operators']), [], [], ['operators']]);
  const long = await ada.call('POST /v1/api/memories/search', { query: '"*-🦒 '.repeat(1_700) });
  assert.deepEqual([long.status, namesOf(long)], [200, ['operators']]);
  const many = await ada.call('POST /v1/api/memories/search', {
    query: Array.from({ length: 2_000 }, (_, n) => `w${n}`).join(' '),
  });
  assert.deepEqual(many, { status: 400, body: { error: 'query has more than 32 different words' } });
});

test('A deleted memory must be neither read, listed nor found, and deleting it again must answer 404', async () => {
  await save(ada.call, { name: 'gone', content: 'quokka' });
  const deleted = await ada.call('DELETE /v1/api/memories/Gone');
  assert.deepEqual(deleted, { status: 200, body: { status: 'ok', name: 'gone' } });
  assert.deepEqual(await search(ada.call, 'quokka'), []);
  assert.equal(namesOf(await ada.call('GET /v1/api/memories?limit=200')).includes('gone'), false);
  for (const verb of ['GET', 'DELETE'])
    assert.deepEqual(await ada.call(`${verb} /v1/api/memories/gone`), {
      status: 404,
      body: { error: "Memory 'gone' not found" },
    });
});

test('An administrator of memories must see and delete the memories of all users', async () => {
  const { body } = await save(ada.call, { name: 'seen', content: 'a pangolin', scope: 'user' });
  const { memory_id } = body;
  const shown = { ...body, last_accessed: null, access_count: 0 };
  assert.deepEqual(
    [
      (await admin.call(`GET /v1/api/admin/memories?scope=user&scope_id=${ada.id}&limit=1`)).body,
      (await admin.call('GET /v1/api/admin/memories/search?q=pangolin')).body,
      (await admin.call(`GET /v1/api/admin/memories/${memory_id}`)).body,
      (await admin.call(`DELETE /v1/api/admin/memories/${memory_id}`)).body,
      (await ada.call('GET /v1/api/memories/seen?scope=user')).status,
    ],
    [{ memories: [shown], total: 1 }, { memories: [shown], total: 1 }, shown, { status: 'ok', name: 'seen' }, 404],
  );
});

test('The admin endpoints must answer 403 without the permission `admin.memories`, and 404 `Memory not found` for an unknown id', async () => {
  const role = { name: 'auditor', permissions: ['read', 'admin.audit'] };
  const { role_id } = (await operator('POST /v1/api/admin/roles', role)).body;
  const auditor = await newUser('audrey', [role_id]);
  const calls = ['GET /v1/api/admin/memories', 'GET /v1/api/admin/memories/search?q=x'];
  for (const call of [...calls, 'GET /v1/api/admin/memories/mem_x', 'DELETE /v1/api/admin/memories/mem_x']) {
    assert.deepEqual(await auditor.call(call), {
      status: 403,
      body: { error: "Forbidden: missing 'admin.memories' permission" },
    });
    assert.equal((await ada.call(call)).status, 403);
  }
  for (const verb of ['GET', 'DELETE'])
    assert.deepEqual(await admin.call(`${verb} /v1/api/admin/memories/mem_x`), {
      status: 404,
      body: { error: 'Memory not found' },
    });
  assert.deepEqual(await admin.call('GET /v1/api/admin/memories/search'), {
    status: 400,
    body: { error: 'q is required' },
  });
});

test('Saving and deleting a memory must be recorded in the audit trail without its text', async () => {
  const saved = [];
  for (const name of ['one', 'two'])
    saved.push((await save(ada.call, { name, content: 'the axolotl' })).body.memory_id);
  await ada.call('DELETE /v1/api/memories/one');
  await admin.call(`DELETE /v1/api/admin/memories/${saved[1]}`);
  const { body } = await operator('GET /v1/api/admin/audit?limit=4');
  const rows: { action: string; user_id: string; resource_type: string; resource_id: string }[] = body.events;
  assert.deepEqual(
    rows.map(({ action, user_id, resource_type, resource_id }) => [action, user_id, resource_type, resource_id]),
    [
      ['memory.delete', admin.id, 'memory', saved[1]],
      ['memory.delete', ada.id, 'memory', saved[0]],
      ['memory.save', ada.id, 'memory', saved[1]],
      ['memory.save', ada.id, 'memory', saved[0]],
    ],
  );
  assert.doesNotMatch(JSON.stringify(body), /axolotl/);
});

test('Reading or finding a memory must count as a use; listing it must not', async () => {
  const { memory_id } = (await save(ada.call, { name: 'used', content: 'an okapi' })).body;
  await ada.call('GET /v1/api/memories?limit=200');
  await admin.call('GET /v1/api/admin/memories/search?q=okapi');
  const before = (await admin.call(`GET /v1/api/admin/memories/${memory_id}`)).body;
  await ada.call('GET /v1/api/memories/used');
  await search(ada.call, 'okapi');
  const { last_accessed, access_count } = (await admin.call(`GET /v1/api/admin/memories/${memory_id}`)).body;
  assert.deepEqual([before.last_accessed, before.access_count, access_count], [null, 0, 2]);
  assert.ok(Date.parse(last_accessed) >= Date.parse(before.created), last_accessed);
});

test('Deleting a user must delete the memories of that user', async () => {
  const carl = await newUser('carl', ['builtin-operator']);
  const { body } = await save(carl.call, { name: 'mine', content: 'a narwhal', scope: 'user' });
  await save(carl.call, { name: 'ours', content: 'a narwhal' });
  assert.equal((await operator(`DELETE /v1/api/admin/users/${carl.id}`)).status, 200);
  assert.equal((await admin.call(`GET /v1/api/admin/memories/${body.memory_id}`)).status, 404);
  assert.deepEqual(namesOf(await admin.call('GET /v1/api/admin/memories/search?q=narwhal')), ['ours']);
});
