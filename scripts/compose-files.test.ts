import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { z } from 'zod';
import { needs } from '../src/testing/needs.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../docs/examples');
const Texts = z.array(z.string());
const run = promisify(execFile);

/** What Compose knows of a service, as far as the examples use it; anything else is a mistake. */
const Service = z.strictObject({
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  image: z.string(),
  hostname: z.string().optional(),
  restart: z.literal('unless-stopped'),
  user: z.string().optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  ports: Texts.optional(),
  volumes: Texts.default([]),
  secrets: Texts.optional(),
  configs: Texts.optional(),
  entrypoint: Texts.optional(),
  environment: z.record(z.string(), z.string()).optional(),
  env_file: z.array(z.strictObject({ path: z.string(), required: z.boolean() })).optional(),
  healthcheck: z
    .strictObject({
      ...{ test: Texts, interval: z.string(), timeout: z.string(), retries: z.number(), start_period: z.string() },
    })
    .optional(),
  networks: Texts.optional(),
  shm_size: z.string().optional(),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  stop_grace_period: z.string(),
});
type Service = z.infer<typeof Service>;

const ComposeFile = z.strictObject({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean() }).nullable()).optional(),
  volumes: z.record(z.string(), z.null()),
  configs: z.record(z.string(), z.strictObject({ file: z.string() })).optional(),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })).optional(),
});
type ComposeFile = z.infer<typeof ComposeFile>;

/** What is wrong with a compose file of this project. */
function findingsIn(source: string): string[] {
  const read = ComposeFile.safeParse(load(source));
  if (!read.success) return read.error.issues.map(({ path: where, message }) => `${where.join('.')}: ${message}`);
  const { services } = read.data;
  return Object.entries(services).flatMap(([name, service]) =>
    rulesFor(service, read.data).flatMap(([isMet, what]) => (isMet ? [] : [`${name}: ${what}`])),
  );
}

function rulesFor(
  service: Service,
  { services, volumes, networks = {}, configs = {}, secrets = {} }: ComposeFile,
): [boolean, string][] {
  const { build, image, user, depends_on: needed = {}, ports = [], environment = {} } = service;
  const isOurs = build !== undefined;
  const named = service.volumes.map((volume) => volume.split(':')[0] ?? '');
  return [
    [isOurs || /:\d+\.\d+(-[a-z]+)?$/.test(image), 'the image has no version'],
    [isOurs || !['', 'root', '0'].includes(user ?? ''), 'it runs as root'],
    [isOurs || service.healthcheck !== undefined, 'it has no health check'], // ours is in the Containerfile
    [ports.every((port) => isOurs && port.startsWith('127.0.0.1:')), 'a port is open to other machines'],
    [named.every((volume) => volume in volumes), 'a volume is not declared'],
    [(service.networks ?? []).every((network) => network in networks), 'a network is not declared'],
    [(service.configs ?? []).every((config) => config in configs), 'a config is not declared'],
    [(service.secrets ?? []).every((secret) => secret in secrets), 'a secret is not declared'],
    [
      Object.keys(needed).every((other) => (services[other]?.healthcheck ?? services[other]?.build) !== undefined),
      'it waits for what has no health check',
    ],
    [Object.keys(environment).every((key) => !/PASSWORD$|SECRET$|TOKEN$/.test(key)), 'a secret is in the environment'],
  ];
}

for (const name of ['compose.yaml', 'compose-postgres.yaml', 'compose-workers.yaml']) {
  test(`${name} follows the rules of the project`, async () => {
    assert.deepEqual(findingsIn(await readFile(path.join(EXAMPLES, name), 'utf8')), []);
  });
}

test('each rule finds its mistake', async () => {
  const source = await readFile(path.join(EXAMPLES, 'compose-workers.yaml'), 'utf8');
  const mistakes: [string | RegExp, string, RegExp][] = [
    ['postgres:17.6', 'postgres:latest', /the image has no version/],
    ['nats:2.12-alpine', 'nats:alpine', /the image has no version/],
    ['    user: postgres\n', '', /it runs as root/],
    [/ {4}healthcheck:\n.*pg_isready.*\n( {6}.*\n)+/, '', /postgres: it has no health check/],
    ['"127.0.0.1:7717:7717"', '"7717:7717"', /a port is open/],
    ['- headgate:/data', '- other:/data', /a volume is not declared/],
    ['networks: [inside]', 'networks: [elsewhere]', /a network is not declared/],
    [/^ {2}database-password:\n.*\n/m, '', /a secret is not declared/],
    [/^configs:\n.*\n.*\n/m, '', /a config is not declared/],
    ['POSTGRES_PASSWORD_FILE', 'POSTGRES_PASSWORD', /a secret is in the environment/],
    ['service_healthy', 'service_started', /condition/],
    ['cap_drop: [ALL]', 'cap_dropped: [ALL]', /cap_drop/],
  ];
  for (const [from, to, expected] of mistakes) {
    assert.notEqual(source.replace(from, to), source, String(from));
    const found = findingsIn(source.replace(from, to));
    assert.ok(
      found.some((each) => expected.test(each)),
      `${from}: ${found.join()}`,
    );
  }
});

test('the daemon of compose-postgres.yaml gets the password of the file that PostgreSQL has, and no URL has it', async () => {
  const { services } = ComposeFile.parse(load(await readFile(path.join(EXAMPLES, 'compose-postgres.yaml'), 'utf8')));
  const { headgate, postgres } = services;
  const command = headgate?.entrypoint?.at(-1) ?? '';
  assert.equal(postgres?.environment?.POSTGRES_PASSWORD_FILE, '/run/secrets/database-password');
  assert.match(
    command,
    /^HEADGATE_STORE_URL="postgresql:\/\/headgate:\$\$\(cat \/run\/secrets\/database-password\)@postgres\/headgate" exec headgate start$/,
  );
});

test('the daemons of compose-workers.yaml have the passwords of the files, and the same folder at the same path', async () => {
  const { services } = ComposeFile.parse(load(await readFile(path.join(EXAMPLES, 'compose-workers.yaml'), 'utf8')));
  const { headgate, worker, nats } = services;
  const linesOf = (service: Service | undefined) => service?.entrypoint?.at(-1)?.trim().split('\n') ?? [];
  const common = [
    'export HEADGATE_STORE_URL="postgresql://headgate:$$(cat /run/secrets/database-password)@postgres/headgate"',
    'export HEADGATE_STORE_BUS="nats://headgate:$$(cat /run/secrets/bus-password)@nats:4222"',
  ];
  assert.deepEqual(linesOf(headgate), [
    'mkdir -p /home/node/work',
    ...common,
    'exec headgate start --workdir /home/node/work',
  ]);
  assert.deepEqual(linesOf(worker), [
    'install -m 600 /active/headgate-key /active/token /data/ || exit 1',
    ...common,
    'exec headgate start --worker --workdir /home/node/work',
  ]);
  assert.ok([headgate, worker].every((service) => service?.volumes.includes('files:/home/node')));
  assert.deepEqual(linesOf(nats), [
    'NATS_PASSWORD="\\"$$(cat /run/secrets/bus-password)\\"" exec nats-server --config /nats.conf',
  ]);
});

test('NATS accepts nats.conf with a password that could be read as a number', await needs('nats-server'), async () => {
  const env = { ...process.env, NATS_PASSWORD: '"12e5"' };
  const { stderr } = await run('/usr/sbin/nats-server', ['-t', '--config', path.join(EXAMPLES, 'nats.conf')], { env });
  assert.match(stderr, /configuration file .* is valid/);
});
