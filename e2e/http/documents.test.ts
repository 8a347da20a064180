import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { button, visit } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

interface Sent {
  method?: string;
  headers?: Record<string, string>;
}

/** Sends a request without a credential, with its path exactly as given. */
async function send(path: string, { method = 'GET', headers = {} }: Sent = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined;
    headers: IncomingHttpHeaders;
    body: Buffer;
  }>();
  request({ host: '127.0.0.1', port: daemon.port, method, path, headers, agent: false }, (answer) => {
    buffer(answer).then((body) => resolve({ status: answer.statusCode, headers: answer.headers, body }), reject);
  })
    .on('error', reject)
    .end();
  return promise;
}

const TYPES = {
  '/docs': 'text/html; charset=utf-8',
  '/static/docs.js': 'text/javascript; charset=utf-8',
  '/static/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/static/swagger-ui.css': 'text/css; charset=utf-8',
  '/static/swagger-ui-licenses.txt': 'text/plain; charset=utf-8',
  '/static/app.js': 'text/javascript; charset=utf-8',
  '/static/style.css': 'text/css; charset=utf-8',
  '/static/diagram.html': 'text/html; charset=utf-8',
  '/static/diagram-licenses.txt': 'text/plain; charset=utf-8',
  '/shared/base.css': 'text/css; charset=utf-8',
};

test('`/docs` and the files below `/static` and `/shared` must be served without a credential, each with its type', async () => {
  for (const [path, type] of Object.entries(TYPES)) {
    const { status, headers, body } = await send(path);
    assert.deepEqual(
      [status, headers['content-type'], headers['x-content-type-options'], headers['cache-control']],
      [200, type, 'nosniff', 'no-cache'],
      path,
    );
    assert.equal(Number(headers['content-length']), body.length, path);
    const head = await send(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.body.length, head.headers['content-length']], [200, 0, String(body.length)]);
    assert.equal((await send(path, { method: 'POST' })).status, 404);
  }
});

test('a file is sent in gzip if the client accepts it, and answered 304 while it is unchanged', async () => {
  for (const path of Object.keys(TYPES)) {
    const plain = await send(path);
    const etag = plain.headers.etag ?? assert.fail('there is an ETag');
    const coded = await send(path, { headers: { 'accept-encoding': 'br, gzip' } });
    assert.deepEqual([coded.headers['content-encoding'], coded.headers.etag], ['gzip', etag]);
    assert.deepEqual(gunzipSync(coded.body), plain.body);
    const again = await send(path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, etag]);
  }
});

test('A path below `/static` or `/shared` that names no file of the build must answer 404', async () => {
  const outside = [
    '..%2Fcsp.json',
    '../csp.json',
    '%2e%2e/site.json',
    '..%5Ccsp.json',
    '.',
    '',
    'app.js/',
    'app.js.br',
  ];
  const odd = ['app.js%00', 'APP.JS', '%61pp.js', '__proto__', 'constructor', 'tokens.css', '%'];
  for (const name of [...outside, ...odd])
    for (const folder of ['/static/', '/shared/']) {
      const { status, body } = await send(`${folder}${name}`);
      assert.deepEqual([status, body.toString()], [404, 'Not found'], `${folder}${name}`);
    }
});

test('a part of the page is sent compressed, may be kept for ever, and is what the policy of the page and its list say', async () => {
  const page = await send('/');
  const listed = /<script type="application\/json" id="parts">(.*?)<\/script>/.exec(page.body.toString())?.[1];
  const parts: Record<string, { file: string; integrity: string }> = JSON.parse(listed ?? '{}');
  assert.ok(Object.keys(parts).length > 5);
  for (const { file, integrity } of Object.values(parts)) {
    assert.ok(page.headers['content-security-policy']?.includes(`'${integrity}'`), file);
    const { status, headers, body } = await send(`/static/${file}`);
    assert.deepEqual(
      [status, headers['content-type'], headers['x-content-type-options'], headers['cache-control']],
      [200, 'text/javascript; charset=utf-8', 'nosniff', 'public, max-age=31536000, immutable'],
    );
    assert.equal(`sha256-${createHash('sha256').update(body).digest('base64')}`, integrity);
    const coded = await send(`/static/${file}`, { headers: { 'accept-encoding': 'gzip, br' } });
    if (body.length > 1024) {
      assert.equal(coded.headers['content-encoding'], 'br');
      assert.deepEqual(brotliDecompressSync(coded.body), body);
      const known = await send(`/static/${file}`, { headers: { 'if-none-match': headers.etag ?? '' } });
      assert.deepEqual([known.status, known.body.length], [304, 0]);
    }
    assert.equal((await send(`/static/x${file}`)).status, 404);
    assert.equal((await send(`/shared/${file}`)).status, 404);
  }
});

test('the frame of the diagrams has a policy of its own, which names its scripts, and these may be kept for ever', async () => {
  const { headers, body } = await send('/static/diagram.html');
  const policy = `${headers['content-security-policy']}`;
  const rest =
    "style-src 'unsafe-inline';base-uri 'none';form-action 'none';frame-ancestors 'self';sandbox allow-scripts";
  assert.match(policy, /^default-src 'none';script-src('?sha256-| |'|[\w+/=])+;style-src/);
  assert.ok(policy.endsWith(rest), policy);
  const found = [...body.toString().matchAll(/diagram-[\w-]*[0-9a-f]{12}\.js/g)];
  const files = [...new Set(found.map(([file]) => file))];
  assert.ok(files.length > 5);
  for (const file of files) {
    const script = await send(`/static/${file}`);
    const hash = createHash('sha256').update(script.body).digest('base64');
    assert.ok(policy.includes(`'sha256-${hash}'`), file);
    assert.deepEqual(
      [script.status, script.headers['cache-control'], script.headers['access-control-allow-origin']],
      [200, 'public, max-age=31536000, immutable', '*'],
    );
  }
});

test('the script and the styles of the page are the files of their own', async () => {
  const [page, script, styles] = await Promise.all(
    ['/', '/static/app.js', '/static/style.css'].map(async (path) => (await send(path)).body.toString()),
  );
  assert.ok(page && script && styles && page.includes(script) && page.includes(styles));
  assert.ok(script.length > 100_000 && styles.includes('--paper'));
});

test('Every answer must carry an `X-Request-Id`: the one of the request if it is well-formed, else a new one', async () => {
  const paths = ['/', '/docs', '/static/app.js', '/openapi.json', '/health', '/metrics', '/nowhere', '/v1/api/send'];
  const seen = new Set<string>();
  for (const path of paths)
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']) {
      const own = await send(path, { method, headers: { 'X-Request-Id': 'my-id_1.2' } });
      assert.equal(own.headers['x-request-id'], 'my-id_1.2', `${method} ${path}`);
      const made = (await send(path, { method, headers: { 'X-Request-Id': 'not safe' } })).headers['x-request-id'];
      assert.match(String(made), /^[A-Za-z0-9._-]{1,64}$/);
      assert.ok(!seen.has(String(made)));
      seen.add(String(made));
    }
  const refused = await send('/v1/api/workstreams', { headers: { Host: 'evil.test', 'X-Request-Id': 'mine' } });
  const expecting = await send('/v1/api/send', {
    method: 'POST',
    headers: { Expect: 'magic', 'X-Request-Id': 'mine' },
  });
  const known = await send('/openapi.json', { headers: { 'If-None-Match': '*', 'X-Request-Id': 'mine' } });
  assert.deepEqual(
    [refused, expecting, known].map(({ status, headers }) => [status, headers['x-request-id']]),
    [
      [403, 'mine'],
      [417, 'mine'],
      [304, 'mine'],
    ],
  );
  const leaving = new AbortController();
  const stream = await fetch(`${daemon.url}/v1/api/events/global`, {
    headers: { Authorization: `Bearer ${daemon.token}`, 'X-Request-Id': 'stream-1' },
    signal: leaving.signal,
  });
  assert.deepEqual([stream.status, stream.headers.get('x-request-id')], [200, 'stream-1']);
  leaving.abort();
});

test('`/docs` must load nothing from other origins, and call the interface with the login of the browser or a token', async (t) => {
  const { page, context } = await visit(t, daemon, { expected: [/401/] });
  await page.goto(`${daemon.url}/docs`);
  const policy = (await send('/docs')).headers['content-security-policy'];
  assert.match(String(policy), /script-src 'self';style-src 'self';/);
  const summary = page.locator('[data-path="/v1/api/workstreams"]').first();
  const operation = page.locator('.opblock', { has: summary }).first();
  /** Sends the request once more, and returns its status. */
  const ask = async (): Promise<string> => {
    const clear = button(page, 'Clear');
    if (await clear.isVisible()) await clear.click();
    await button(page, 'Execute').click();
    const status = operation.locator('.live-responses-table .response .response-col_status');
    await status.waitFor();
    return (await status.innerText()).slice(0, 3);
  };
  // Hundreds of rows are drawn again.
  await operation.locator('.opblock-summary-control').press('Enter', { timeout: 180_000 });
  await button(page, 'Try it out').click();
  assert.equal(await ask(), '200');
  await context.clearCookies();
  assert.equal(await ask(), '401');
  await page.locator('.btn.authorize').first().click();
  await page.locator('.modal-ux input').first().fill(daemon.token);
  await page.locator('.modal-ux button.authorize').first().click();
  await page.locator('.modal-ux .btn-done').first().click();
  assert.equal(await ask(), '200');
});
