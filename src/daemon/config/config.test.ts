import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Contract } from '../../../protocol/contract.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { type Config, loadConfig, parseConfig } from './config.ts';
import { SkillsConfig } from './skills-config.ts';

const MEMORY = { relevanceK: 5, fetchLimit: 50, maxContent: 32_768, nudges: true, nudgeCooldownSecs: 300 };
const CHANNELS = { webhook: {}, ntfy: {}, push: { afterSecs: 10, contact: 'mailto:headgate@example.org' } };
const DEFAULTS: Config = {
  answers: { betweenSecs: 60, maxChars: 4_000_000, maxToolCalls: 128, retrySecs: 300 },
  tools: {
    ...{ sandbox: 'auto', tier: 'workspace', homePaths: [], network: { allow: [] }, timeoutSecs: 120 },
    diagnostics: [],
    search: {},
    limits: { processes: 512, fileMb: 16_384, tmpMb: 1_024 },
    background: { maxSecs: 28_800 },
  },
  hooks: [],
  mcp: { servers: {}, maxServers: 200, registryUrl: 'https://registry.modelcontextprotocol.io', idleMinutes: 10 },
  server: { allowedHosts: [], allowedOrigins: [], maxWorkstreams: 50, inbound: { burst: 300, perSecond: 50 } },
  ratelimit: { enabled: 'auto', requestsPerSecond: 50, burst: 100, trustedProxies: [] },
  auth: { setup: 'auto' },
  oidc: {
    ...{ scopes: ['openid', 'profile', 'email'], providerName: 'SSO', roleMap: {}, defaultRole: 'builtin-viewer' },
    ...{ createUsers: true, passwordEnabled: true },
  },
  ...{ channels: CHANNELS, egress: { privateHosts: [] } },
  heartbeatMinutes: 0,
  checkpoints: { enabled: true, maxFileMb: 10, maxTotalMb: 512, keep: 50, keepDays: 14 },
  ...{ memory: MEMORY, skills: SkillsConfig.parse({}) },
  cron: { enabled: true, maxConcurrentRuns: 4, retentionDays: 90 },
  nodes: {},
  ...{ store: { retrySecs: 30, balance: true }, durability: 'normal', retentionDays: 30 },
  approvalTimeoutSecs: 3_600,
  approvals: { alwaysSecs: 28_800 },
  session: { retentionDays: 0, titles: 'model' },
  judge: {
    ...{
      enabled: true,
      useModel: true,
      model: '',
      timeoutSecs: 60,
      maxContextRatio: 0.5,
      tokensPerQuestion: 0,
      readOnlyTools: true,
    },
    ...{ cancelOnApproval: false, outputGuard: true, redactSecrets: true, confidenceThreshold: 0.7 },
    ...{ retentionDays: 365, provider: '', baseUrl: '', apiKey: '', apiKeyEnv: '' },
  },
  agents: { trusted: [], parallel: 4, maxTimeoutSecs: 7_200 },
  otel: { sampleRatio: 1 },
  ...{ workstreams: { visibility: 'shared' }, logLevel: 'info' },
};

const HOST = 'https://llm.example/v1';
const parse = (text: string) => parseConfig(text, '/h/config.json');

test('without a file, every setting has its default', async () => {
  using home = tempDir();
  assert.deepEqual(await loadConfig(home.path), { config: DEFAULTS, warnings: [] });
});

test('a file is read as JSON5, with its byte order mark', async () => {
  using home = tempDir();
  const file = path.join(home.path, 'config.json');
  await writeFile(file, '\uFEFF// mine\n{ retentionDays: 7, server: { port: 8080, }, }');
  const config = { ...DEFAULTS, retentionDays: 7, server: { ...DEFAULTS.server, port: 8080 } };
  assert.deepEqual(await loadConfig(home.path), { config, warnings: [] });
});

test('every setting can be set', () => {
  const settings: Config = {
    models: { fast: { provider: 'openai-compatible', model: 'qwen3', baseUrl: 'http://10.0.0.2:8000/v1' } },
    defaultModel: 'fast',
    answers: { firstSecs: 900, betweenSecs: 1.5, maxChars: 100_000, maxToolCalls: 10, retrySecs: 300 },
    tools: {
      ...{ sandbox: 'required', tier: 'read-only', homePaths: ['.config/foo'], timeoutSecs: 30 },
      network: { allow: ['example.com', '*.example.com', 'localhost:5432', '[fd00::1]:443'] },
      diagnostics: [{ files: '*.py', command: 'ruff check "$@"', timeoutSecs: 10 }],
      search: { provider: 'brave', url: 'https://search.example.com/api', apiKeyEnv: 'HEADGATE_KEY_S' },
      limits: { processes: 100, memoryMb: 1_000, fileMb: 100, tmpMb: 100 },
      background: { maxSecs: 60 },
    },
    hooks: [
      { at: 'before_tool', tools: ['bash', '*_file'], command: 'check', timeoutSecs: 5, required: true },
      { at: 'run_end', command: 'tell', timeoutSecs: 30, required: false },
    ],
    mcp: {
      servers: {
        'my.files-2': {
          ...{
            command: 'npx',
            args: ['-y', 'files'],
            env: { TOKEN: `\${MY_TOKEN}` },
            headers: {},
            network: ['registry.npmjs.org'],
          },
          ...{ folders: ['~/notes', '/srv'], writesFolders: true, sandbox: false, autoApprove: true, enabled: false },
          timeoutSecs: 30,
        },
      },
      ...{ maxServers: 20, registryUrl: 'https://registry.example.com/', idleMinutes: 3 },
      clientMetadataUrl: 'https://chat.example.com/headgate.json',
    },
    server: {
      ...{ host: '0.0.0.0', port: 0, allowedHosts: ['box.lan'] },
      allowedOrigins: ['https://app.example.com', 'http://127.0.0.1:3000'],
      publicUrl: 'https://chat.example.com',
      maxWorkstreams: 3,
      inbound: { burst: 10, perSecond: 0.5 },
    },
    ratelimit: { enabled: true, requestsPerSecond: 0.5, burst: 3, trustedProxies: ['10.0.0.0/8'] },
    workstreams: { visibility: 'private' },
    auth: { setup: 'code' },
    oidc: {
      ...{ issuer: 'https://sso.example.com/realms/lab', clientId: 'headgate', clientSecretEnv: 'OIDC_SECRET' },
      ...{
        scopes: ['openid', 'groups'],
        providerName: 'Lab',
        roleClaim: 'groups',
        roleMap: { staff: 'builtin-operator' },
      },
      ...{ defaultRole: '', createUsers: false, passwordEnabled: false, redirectBase: 'https://chat.example.com' },
    },
    channels: { ...CHANNELS, webhook: { ops: { url: 'https://hooks.example.com/x', secretEnv: 'OPS_SECRET' } } },
    egress: { privateHosts: ['gpu.example.com'] },
    heartbeatMinutes: 30,
    cron: { enabled: false, maxConcurrentRuns: 2, retentionDays: 7 },
    nodes: { '*': { deny: ['file.write'] }, ab12: { allow: ['system.*'], deny: [] } },
    store: { url: 'postgresql://headgate:secret@db.example.com/headgate', retrySecs: 5, balance: true },
    durability: 'full',
    retentionDays: 1,
    approvalTimeoutSecs: 60,
    approvals: { alwaysSecs: 0 },
    judge: {
      ...{
        enabled: false,
        useModel: false,
        model: 'fast',
        timeoutSecs: 5,
        maxContextRatio: 1,
        tokensPerQuestion: 0,
        readOnlyTools: false,
      },
      ...{ cancelOnApproval: true, outputGuard: true, redactSecrets: true, confidenceThreshold: 0.95 },
      ...{ retentionDays: 0, provider: 'openai', baseUrl: HOST, apiKey: 'k', apiKeyEnv: 'HEADGATE_KEY_J' },
    },
    session: { retentionDays: 365, titles: 'message' },
    checkpoints: { enabled: false, maxFileMb: 1, maxTotalMb: 64, keep: 5, keepDays: 1 },
    memory: { relevanceK: 0, fetchLimit: 10, maxContent: 100, nudges: false, nudgeCooldownSecs: 0 },
    skills: { discoveryUrl: HOST, githubApiUrl: `${HOST}/api`, githubRawUrl: `${HOST}/raw` },
    agents: { trusted: ['~/src'], parallel: 4, maxTimeoutSecs: 7_200 },
    budgets: { run: { tokens: 100_000 }, day: { usd: 2.5 } },
    ...{ workdir: '/srv/work', otel: { endpoint: 'http://127.0.0.1:4318', sampleRatio: 0.1 } },
    logLevel: 'debug',
  };
  assert.deepEqual(parse(JSON.stringify(settings)), { config: settings, warnings: [] });
});

test('an empty file is refused', () => {
  assert.throws(() => parse(' \n'), /is empty\. Remove it, or write \{\} into it/);
});

test('unknown keys at any depth are warnings, not errors', () => {
  const text = `{ $schema: 'x', colour: 1, server: { prot: 1 }, models: { a: { provider: 'demo', modle: 'x' } } }`;
  assert.deepEqual(parse(text).warnings, [
    '/h/config.json: "colour" is not a setting and has no effect',
    '/h/config.json: "server.prot" is not a setting and has no effect',
    '/h/config.json: "models.a.modle" is not a setting and has no effect',
  ]);
});

const WRONG: Record<string, string> = {
  "{ server: { port: 'x' } }": 'server.port',
  '{ server: { port: 65536 } }': 'server.port',
  "{ server: { publicUrl: 'javascript:1' } }": 'server.publicUrl',
  "{ server: { allowedHosts: 'box' } }": 'server.allowedHosts',
  "{ server: { allowedOrigins: ['https://app.example.com/'] } }": 'server.allowedOrigins.0',
  "{ server: { allowedOrigins: ['*'] } }": 'server.allowedOrigins.0',
  "{ server: { allowedOrigins: ['null'] } }": 'server.allowedOrigins.0',
  "{ tools: { sandbox: 'maybe' } }": 'tools.sandbox',
  "{ tools: { search: { provider: 'google' } } }": 'tools.search.provider',
  "{ tools: { search: { apiKey: 'k' } } }": 'tools.search.provider',
  "{ tools: { search: { provider: 'searxng' } } }": 'tools.search.url',
  "{ tools: { search: { provider: 'searxng', url: 'http://ada:secret@searx.lan' } } }": 'tools.search.url',
  "{ tools: { search: { provider: 'searxng', url: 'http://searx.lan', apiKey: 'k' } } }": 'tools.search.apiKey',
  "{ tools: { search: { provider: 'brave', apiKey: 'k', apiKeyEnv: 'K' } } }": 'tools.search.apiKeyEnv',
  "{ tools: { search: { provider: 'tavily', url: 'https://search.example.com' } } }": 'tools.search.apiKeyEnv',
  "{ hooks: [{ at: 'later', command: 'x' }] }": 'hooks.0.at',
  "{ hooks: [{ at: 'after_tool', command: 'x', required: true }] }": 'hooks.0.required',
  "{ hooks: [{ at: 'run_end', command: 'x', tools: ['bash'] }] }": 'hooks.0.tools',
  '{ mcp: { servers: { a__b: { command: "x" } } } }': 'mcp.servers.a__b',
  '{ mcp: { servers: { "a b": { command: "x" } } } }': 'mcp.servers.a b',
  '{ mcp: { servers: { a: {} } } }': 'mcp.servers.a',
  '{ mcp: { servers: { a: { url: "text" } }, clientMetadataUrl: "text" } }': 'mcp.servers.a.url',
  '{ mcp: { servers: { a: { url: "https://u:p@x.test" } } } }': 'mcp.servers.a.url',
  '{ mcp: { servers: { a: { command: "x", env: { LD_PRELOAD: "y" } } } } }': 'mcp.servers.a.env.LD_PRELOAD',
  '{ mcp: { servers: { a: { command: "x", folders: ["b"] } } } }': 'mcp.servers.a.folders.0',
  '{ mcp: { servers: { a: { command: "x", timeoutSecs: 0 } } } }': 'mcp.servers.a.timeoutSecs',
  "{ ratelimit: { enabled: 'on' } }": 'ratelimit.enabled',
  "{ ratelimit: { trustedProxies: ['10.0.0.0/8', 'proxy.lan'] } }": 'ratelimit.trustedProxies.1',
  "{ channels: { webhook: { a: { url: 'https://x.example' } } } }": 'channels.webhook.a',
  '{ retentionDays: 0 }': 'retentionDays',
  "{ workdir: 'relative' }": 'workdir',
  "{ models: { a: { provider: 'none' } } }": 'models.a.provider',
  '[]': 'the file',
  null: 'the file',
};

for (const [text, place] of Object.entries(WRONG))
  test(`${text} is refused at ${place}`, () => {
    assert.throws(
      () => parse(text),
      (error: Error) =>
        error.name === 'StartError' && error.message.startsWith(`/h/config.json cannot be used: ${place}: `),
    );
  });

test('several errors are reported at once', () => {
  assert.throws(() => parse("{ retentionDays: 0, logLevel: 'loud' }"), /: retentionDays: .*; logLevel: /);
});

test('an error does not repeat a secret in the wrong place', () => {
  assert.throws(
    () => parse("{ models: { a: { provider: 'openai', apiKey: ['sk-secret'] } }, logLevel: 'sk-secret' }"),
    (error: Error) => !error.message.includes('sk-secret'),
  );
});

test('a file that is not JSON is refused with the position of the error and not changed', async () => {
  using home = tempDir();
  const file = path.join(home.path, 'config.json');
  await writeFile(file, '{\n  models: oops\n');
  const message = `${file} is not JSON (JSON5 is fine): invalid character 'o' at 2:11. The file was not changed.`;
  await assert.rejects(loadConfig(home.path), { name: 'StartError', message });
  assert.equal(await readFile(file, 'utf8'), '{\n  models: oops\n');
});

test('a file that is nested too deeply is refused in one line, even where it would have no effect', async () => {
  using home = tempDir();
  const file = path.join(home.path, 'config.json');
  const nested = (levels: number) => `${'{a:'.repeat(levels)}1${'}'.repeat(levels)}`;
  await writeFile(file, nested(3_000));
  const message = `${file} cannot be used: a: is nested too deeply (at most 32 levels).`;
  await assert.rejects(loadConfig(home.path), { name: 'StartError', message });
  for (const text of [nested(33), '['.repeat(100_000) + ']'.repeat(100_000), `{ tools: ${nested(3_000)} }`])
    assert.throws(() => parse(text), { name: 'StartError', message: /: (?:a|0|tools): is nested too deeply/ });
  assert.deepEqual(parse(nested(32)).warnings, ['/h/config.json: "a" is not a setting and has no effect']);
});

test('an unreadable file is refused, not treated as missing', async () => {
  using home = tempDir();
  await mkdir(path.join(home.path, 'config.json'));
  await assert.rejects(loadConfig(home.path), { name: 'StartError', message: /read: it is not a file/ });
});

test('the table of docs/configuration.md has a row for every setting', async () => {
  const text = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, key]) => key ?? '');
  const settings = [
    'models',
    'defaultModel',
    ...Object.entries(DEFAULTS).flatMap(([key, value]) =>
      typeof value === 'object' ? Object.keys(value).map((inner) => `${key}.${inner}`) : [key],
    ),
    'server.host',
    'server.port',
    'server.publicUrl',
    'answers.firstSecs',
    'workdir',
    ...['run', 'workstream', 'principal', 'model', 'day'].map((scope) => `budgets.${scope}`),
  ];
  assert.deepEqual(
    settings.filter((key) => !rows.includes(key)),
    [],
  );
});

test('no method weighs more than the smallest allowed burst', () => {
  const inbound = (burst: number) => JSON.stringify({ server: { inbound: { burst } } });
  const heaviest = Math.max(...Object.values<Contract>(CONTRACTS).map(({ weight = 1 }) => weight));
  assert.ok(heaviest <= parse(inbound(10)).config.server.inbound.burst);
  assert.throws(() => parse(inbound(9)), { message: /server\.inbound\.burst/ });
});

test('a fallback has to be the alias of another model', () => {
  const spare = { provider: 'demo' };
  const read = (fallback: string[]) =>
    parseConfig(JSON.stringify({ models: { main: { provider: 'demo', fallback }, spare } }), 'config.json');
  assert.deepEqual(read(['spare']).config.models?.main?.fallback, ['spare']);
  for (const name of ['main', 'spar', 'openai/gpt']) {
    assert.throws(() => read(['spare', name]), {
      message: `config.json cannot be used: models.main.fallback.1: no other model has the alias "${name}"; use spare.`,
    });
  }
});
