import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveHome } from '../../home/home-path.ts';
import { parseConfig } from './config.ts';
import { overridesOf, resolveOptions, type StartFlags } from './options.ts';

interface Given {
  flags?: StartFlags;
  environment?: Record<string, string>;
  config?: object;
}

const around = (environment: Record<string, string> = {}) => ({ environment, userHome: '/home/ann', cwd: '/work' });

const resolve = ({ flags = {}, environment, config = {} }: Given = {}) =>
  resolveOptions(flags, parseConfig(JSON.stringify(config), 'config.json').config, around(environment));

const everywhere: Required<Given> = {
  flags: { port: '1', host: 'localhost', workdir: 'flag', model: 'flag' },
  environment: { HEADGATE_PORT: '2', HEADGATE_HOST: '::1', HEADGATE_WORKDIR: '/env', HEADGATE_MODEL: 'env' },
  config: { server: { port: 3, host: '127.0.0.3' }, workdir: '~/config' },
};

test('by default, the daemon listens on 127.0.0.1:7717 and requires authentication', () => {
  assert.deepEqual(resolve(), {
    host: '127.0.0.1',
    port: 7717,
    isStandby: false,
    isWorker: false,
    machineLabels: [],
    authEnabled: true,
  });
});

test('flags win over the environment and config.json', () => {
  assert.deepEqual(resolve(everywhere), {
    host: 'localhost',
    port: 1,
    workdir: '/work/flag',
    model: 'flag',
    isStandby: false,
    isWorker: false,
    machineLabels: [],
    authEnabled: true,
  });
});

test('the environment wins over config.json', () => {
  assert.deepEqual(resolve({ ...everywhere, flags: {} }), {
    host: '::1',
    port: 2,
    workdir: '/env',
    model: 'env',
    isStandby: false,
    isWorker: false,
    machineLabels: [],
    authEnabled: true,
  });
});

test('config.json wins over the defaults', () => {
  const expected = {
    host: '127.0.0.3',
    port: 3,
    workdir: '/home/ann/config',
    isStandby: false,
    isWorker: false,
    machineLabels: [],
    authEnabled: true,
  };
  assert.deepEqual(resolve({ config: everywhere.config }), expected);
});

test('a daemon is a standby by a flag, a variable or config.json', () => {
  const config = { store: { standby: true } };
  const given = [
    { flags: { standby: true }, environment: { HEADGATE_STORE_STANDBY: '0' } },
    { environment: { HEADGATE_STORE_STANDBY: 'yes' } },
    { config },
    { config, environment: { HEADGATE_STORE_STANDBY: '' } },
    { config, environment: { HEADGATE_STORE_STANDBY: '0' } },
  ];
  assert.deepEqual(
    given.map((each) => resolve(each).isStandby),
    [true, true, true, true, false],
  );
  assert.throws(() => resolve({ environment: { HEADGATE_STORE_STANDBY: 'maybe' } }), {
    message: 'HEADGATE_STORE_STANDBY must be 1 or 0, not "maybe".',
  });
});

test('a daemon is a worker by a flag, a variable or config.json', () => {
  const config = { store: { worker: true } };
  const given = [
    { flags: { worker: true }, environment: { HEADGATE_STORE_WORKER: '0' } },
    { environment: { HEADGATE_STORE_WORKER: 'on' } },
    { config },
    { config, environment: { HEADGATE_STORE_WORKER: '' } },
    { config, environment: { HEADGATE_STORE_WORKER: '0' } },
    {},
  ];
  assert.deepEqual(
    given.map((each) => resolve(each).isWorker),
    [true, true, true, true, false, false],
  );
  assert.throws(() => resolve({ environment: { HEADGATE_STORE_WORKER: 'maybe' } }), {
    message: 'HEADGATE_STORE_WORKER must be 1 or 0, not "maybe".',
  });
});

test('the labels of the machine come from a variable or config.json, each once', () => {
  const config = { store: { machineLabels: ['gpu', 'eu', 'gpu'] } };
  const labelsOf = (HEADGATE_STORE_MACHINE_LABELS: string) =>
    resolve({ config, environment: { HEADGATE_STORE_MACHINE_LABELS } }).machineLabels;
  assert.deepEqual(
    [
      resolve().machineLabels,
      resolve({ config }).machineLabels,
      labelsOf(''),
      labelsOf('tpu, a.b_c-1 ,,tpu'),
      labelsOf(','),
    ],
    [[], ['eu', 'gpu'], ['eu', 'gpu'], ['a.b_c-1', 'tpu'], []],
  );
});

test('labels in another form are refused in words that name the setting', () => {
  const form =
    'must have 1 to 32 lower-case letters, digits, ".", "_" or "-", and begin and end with a letter or digit';
  const variable = (HEADGATE_STORE_MACHINE_LABELS: string) => () =>
    resolve({ environment: { HEADGATE_STORE_MACHINE_LABELS } });
  assert.throws(variable('eu GPU'), { message: `HEADGATE_STORE_MACHINE_LABELS: "GPU" ${form}.` });
  const many = Array.from({ length: 1_000 }, (_, n) => `l${n}`);
  assert.throws(variable(many.join(' ')), { message: 'HEADGATE_STORE_MACHINE_LABELS: must have at most 16 entries.' });
  assert.throws(() => resolve({ config: { store: { machineLabels: ['eu', 'GPU'] } } }), {
    message: `config.json cannot be used: store.machineLabels.1: ${form}.`,
  });
});

test('the address of the bus comes from a variable or config.json', () => {
  const config = { store: { bus: 'nats://one:4222' } };
  const HEADGATE_STORE_BUS = 'tls://ann:p%25w@two';
  assert.deepEqual(
    [{}, { config }, { config, environment: { HEADGATE_STORE_BUS } }].map((each) => resolve(each).busUrl),
    [undefined, 'nats://one:4222', HEADGATE_STORE_BUS],
  );
});

for (const bus of ['nats', 'http://host:4222', 'nats://', 'nats://ann:100%@host'])
  test(`"${bus}" is not the address of a bus, and the message does not repeat it`, () => {
    const rule = 'must be like nats://user:password@host:4222, or tls:// for an encrypted connection';
    assert.throws(() => resolve({ environment: { HEADGATE_STORE_BUS: bus } }), {
      name: 'UsageError',
      message: `HEADGATE_STORE_BUS ${rule}`,
    });
    assert.throws(() => resolve({ config: { store: { bus } } }), {
      message: `config.json cannot be used: store.bus: ${rule}.`,
    });
  });

test('flags and variables are listed as replacing the settings of config.json', () => {
  const environment = { HEADGATE_PORT: '2', HEADGATE_WORKDIR: '', HEADGATE_SKIP_CRON: '1' };
  const flags = { host: 'localhost' };
  const overrides = overridesOf(flags, resolve({ flags, environment }), { environment });
  assert.deepEqual(Object.fromEntries(overrides), {
    'server.host': { value: 'localhost', source: 'flag' },
    'server.port': { value: 2, source: 'environment' },
    'cron.enabled': { value: false, source: 'environment' },
  });
});

test('an empty variable counts as unset', () => {
  const environment = { HEADGATE_PORT: '', HEADGATE_HOST: '', SERVICE_AUTH_ENABLED: '' };
  assert.deepEqual(resolve({ environment }), resolve());
});

for (const port of ['-1', '65536', '80.5', '0x50', ' 80', 'none', '100000'])
  test(`"${port}" is not a port`, () => {
    const message = `--port must be a whole number from 0 to 65535 (0 takes any free port), not "${port}".`;
    assert.throws(() => resolve({ flags: { port } }), { name: 'UsageError', exitCode: 2, message });
  });

test('an error names the invalid variable', () => {
  assert.throws(
    () => resolve({ environment: { HEADGATE_PORT: 'x' } }),
    /^UsageError: HEADGATE_PORT must be .*, not "x"\./,
  );
  const environment = { SERVICE_AUTH_ENABLED: 'maybe' };
  assert.throws(() => resolve({ environment }), /^UsageError: SERVICE_AUTH_ENABLED must be 1 or 0, not "maybe"\.$/);
});

test('port 0 and 65535 are ports', () => {
  assert.deepEqual([resolve({ flags: { port: '0' } }).port, resolve({ flags: { port: '65535' } }).port], [0, 65_535]);
});

for (const host of ['', 'a b', 'http://x', '1.2.3.4:80', '-x', 'x/y'])
  test(`"${host}" is not a host`, () => {
    assert.throws(() => resolve({ flags: { host } }), { name: 'UsageError' });
  });

test('an IPv6 address may be in brackets', () => {
  assert.equal(resolve({ flags: { host: '[::1]' } }).host, '::1');
});

for (const off of ['0', 'false', 'NO', 'off'])
  test(`SERVICE_AUTH_ENABLED=${off} switches authentication off`, () => {
    assert.equal(resolve({ environment: { SERVICE_AUTH_ENABLED: off } }).authEnabled, false);
  });

for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '::1', '[::1]'])
  test(`--no-auth is allowed on ${host}`, () => {
    assert.equal(resolve({ flags: { host, auth: false } }).authEnabled, false);
  });

for (const host of [
  '0.0.0.0',
  '::',
  '192.168.1.5',
  '128.0.0.1',
  'example.com',
  'localhost.example.com',
  '127.example.com',
])
  test(`--no-auth is refused on ${host}`, () => {
    const refusal = { name: 'StartError', exitCode: 1, message: /^Without authentication, Headgate listens only on a/ };
    assert.throws(() => resolve({ flags: { host, auth: false } }), refusal);
    assert.throws(() => resolve({ flags: { host }, environment: { SERVICE_AUTH_ENABLED: '0' } }), refusal);
  });

test('--no-auth wins over a variable that says otherwise', () => {
  assert.equal(resolve({ flags: { auth: false }, environment: { SERVICE_AUTH_ENABLED: '1' } }).authEnabled, false);
});

test('the home comes from the flag, the variable or the default ~/.headgate', () => {
  const homes = [
    resolveHome({ home: 'here' }, around({ HEADGATE_HOME: '/there' })),
    resolveHome({}, around({ HEADGATE_HOME: '~/there' })),
    resolveHome({}, around()),
  ];
  assert.deepEqual(homes, ['/work/here', '/home/ann/there', '/home/ann/.headgate']);
});

test('an empty folder name is refused', () => {
  assert.throws(() => resolveHome({ home: ' ' }, around()), { name: 'UsageError' });
});
