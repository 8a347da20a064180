import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { load } from 'js-yaml';
import { z } from 'zod';

const ROOT = path.resolve(import.meta.dirname, '..');
const text = await readFile(path.join(ROOT, 'Containerfile'), 'utf8');

/** The instructions of the last stage, by keyword. */
function lastStage(source: string): Map<string, string[]> {
  const instructions = DockerfileParser.parse(source).getInstructions();
  const from = instructions.findLastIndex((each) => each.getKeyword() === 'FROM');
  const byKeyword = Map.groupBy(instructions.slice(from), (each: Instruction) => each.getKeyword());
  return new Map(
    [...byKeyword].map(([keyword, found]) => [keyword, found.map((each) => each.getRawArgumentsContent() ?? '')]),
  );
}

/** What is wrong with a container file of this project. */
function findingsIn(source: string): string[] {
  const stage = lastStage(source);
  const said = validate(source).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
  const rules: [boolean, string][] = [
    [!['', 'root', '0'].includes(stage.get('USER')?.at(-1) ?? ''), 'it runs as root'],
    [stage.get('HEALTHCHECK')?.length === 1, 'it has no health check'],
    [stage.get('VOLUME')?.[0] === '/data', 'the home is no volume'],
    [stage.get('ENTRYPOINT')?.[0]?.startsWith('[') === true, 'a shell would be process 1'],
    [!/^ADD\b/m.test(source), 'ADD also unpacks and downloads: use COPY'],
    [!/^FROM \S+:latest|^FROM [^:\s]+(\s|$)/m.test(source), 'an image has no version'],
    [!/apt-get install(?!.*--no-install-recommends)/.test(source), 'recommended packages are installed'],
    [
      !source.includes('apt-get update') || source.includes('rm -rf /var/lib/apt/lists/*'),
      'lists of packages are left',
    ],
    [!/\b(curl|wget)\b/.test(source), 'something is downloaded outside of the package managers'],
  ];
  return [...said, ...rules.flatMap(([isMet, what]) => (isMet ? [] : [what]))];
}

test('the Containerfile is valid and follows the rules of the project', () => {
  assert.deepEqual(findingsIn(text), []);
});

test('each rule finds its mistake', () => {
  const mistakes: [string | RegExp, string, string | RegExp][] = [
    ['USER node', 'USER root', 'it runs as root'],
    [/HEALTHCHECK[\s\S]*?\]\n/, '', 'it has no health check'],
    ['VOLUME /data', '', 'the home is no volume'],
    [/ENTRYPOINT .*/, 'ENTRYPOINT headgate', 'a shell would be process 1'],
    ['COPY . .', 'ADD . .', 'ADD also unpacks and downloads: use COPY'],
    ['node:26-slim', 'node:latest', 'an image has no version'],
    [' --no-install-recommends', '', 'recommended packages are installed'],
    ['rm -rf /var/lib/apt/lists/*', 'true', 'lists of packages are left'],
    ['WORKDIR /src', 'WORKDIRS /src', /Unknown instruction/i],
  ];
  for (const [from, to, expected] of mistakes) {
    const found = findingsIn(text.replace(from, to));
    const isFound = found.some((each) => (typeof expected === 'string' ? each === expected : expected.test(each)));
    assert.ok(isFound, `${to || from}: ${found.join()}`);
  }
});

test('the health check succeeds while the daemon answers, and only then', async () => {
  const [check = ''] = lastStage(text).get('HEALTHCHECK') ?? [];
  const [, , script] = z
    .array(z.string())
    .length(3)
    .parse(JSON.parse(check.slice(check.indexOf('['))));
  let status = 200;
  const server = createServer((request, response) =>
    response.writeHead(request.url === '/health' ? status : 404).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const run = () =>
    promisify(execFile)(process.execPath, ['-e', script ?? ''], { env: { HEADGATE_PORT: port } }).then(
      () => 0,
      (error: { code: number }) => error.code,
    );
  assert.equal(await run(), 0);
  status = 503;
  assert.equal(await run(), 1);
  server.closeAllConnections();
  server.close();
  assert.equal(await run(), 1);
});

test('the image has the port and the home that its variables name', async () => {
  const stage = lastStage(text);
  assert.equal(stage.get('ENV')?.[0], 'HEADGATE_HOME=/data HEADGATE_HOST=0.0.0.0 HEADGATE_PORT=7717');
  assert.deepEqual([stage.get('EXPOSE'), stage.get('WORKDIR')], [['7717'], ['/data']]);
  const compose = z
    .object({
      services: z.object({
        headgate: z.looseObject({
          build: z.object({ context: z.string(), dockerfile: z.string() }),
          ports: z.array(z.string()),
          volumes: z.array(z.string()),
        }),
      }),
    })
    .parse(load(await readFile(path.join(ROOT, 'docs/examples/compose.yaml'), 'utf8')));
  const { build, ports, volumes } = compose.services.headgate;
  assert.equal(path.resolve(ROOT, 'docs/examples', build.context, build.dockerfile), path.join(ROOT, 'Containerfile'));
  assert.deepEqual([ports, volumes], [['127.0.0.1:7717:7717'], ['headgate:/data']]);
});

test('built and private files stay outside of the image', async () => {
  const ignored = (await readFile(path.join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  for (const name of ['.git', '**/node_modules', 'dist', '.env', '.headgate', 'docs/examples/secrets'])
    assert.ok(ignored.includes(name), name);
});
