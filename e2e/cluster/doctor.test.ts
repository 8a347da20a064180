import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { NATS_PASSWORD, startNats } from '../../src/testing/nats-server.ts';
import { needs } from '../../src/testing/needs.ts';
import { openClock } from '../cluster-drill/clocks.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { copyKeys } from './copy-keys.ts';
import { closeCrew, crewScene, folderNamed, startLead } from './crew.ts';
import { untilServing } from './two-daemons.ts';

after(closeCrew);

/** What `headgate doctor` finds under these names. */
async function findings(home: string, names: string[], environment: Record<string, string>): Promise<string[]> {
  const { stdout, stderr } = await runHeadgate(['doctor', '--json', '--home', home], environment);
  assert.ok(!`${stdout}${stderr}`.includes(NATS_PASSWORD), stdout);
  const { findings: found }: { findings: Record<'name' | 'level' | 'text' | 'mend', string>[] } = JSON.parse(stdout);
  return found.flatMap(({ name, level, text, mend }) =>
    names.includes(name) ? [[level, text, mend].filter(Boolean).join(': ')] : [],
  );
}

const user = (permissions: string) =>
  `authorization { users: [{ user: headgate, password: "${NATS_PASSWORD}", permissions: ${permissions} }] }`;
const ALL = user('{ publish: ["headgate.>"], subscribe: ["headgate.>"] }');

/** A certificate for the host, signed by itself. */
async function makeCertificate(folder: string, host: string): Promise<string> {
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  await promisify(execFile)('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
  return `tls { cert_file: "${cert}", key_file: "${key}" }`;
}

/** Servers, and what doctor says of them. */
const SERVERS: {
  name: string;
  config: string;
  url?(url: string): string;
  found: RegExp;
}[] = [
  { name: 'with all it needs', config: ALL, found: /^ok: NATS \d+\S* at nats:\/\/127\.0\.0\.1:\d+$/ },
  {
    name: 'that is not there',
    config: ALL,
    url: (url) => url.replace(/\d+$/, '1'),
    found: /^problem: nats:\/\/127\.0\.0\.1:1 cannot be reached: connection refused: Start the server, or correct/,
  },
  {
    name: 'with another password',
    config: ALL,
    url: (url) => url.replace(NATS_PASSWORD, 'another'),
    found: /^problem: nats:\S+ cannot be reached: it refuses the user or the password.*: Correct the user/,
  },
  {
    name: 'that permits no messages',
    config: user('{ publish: ["other.>"], subscribe: ["headgate.>"] }'),
    found: /^problem: NATS .*Permissions Violation for Publish to "headgate\.\w+".*: Permit the user to publish/,
  },
  {
    name: 'that permits no subscription',
    config: user('{ publish: ["headgate.>"], subscribe: ["other.>"] }'),
    found: /^problem: NATS .*Permissions Violation for Subscription to "headgate\.\w+".*: Permit the user to publish/,
  },
  {
    name: 'for short messages',
    config: `max_payload: 1KB\n${ALL}`,
    found:
      /^problem: NATS \S+ at \S+ refuses messages of more than 1024 bytes, and daemons send up to \d+: Remove max_p/,
  },
  {
    name: 'without TLS',
    config: ALL,
    url: (url) => url.replace('nats:', 'tls:'),
    found:
      /^problem: nats:\S+ cannot be reached: it does not encrypt connections \(TLS\): Give the server a certificate/,
  },
];

test('doctor says whether the NATS server carries what daemons send', await needs('nats-server'), async (t) => {
  await using home = await mkdtempDisposable(path.join(tmpdir(), 'headgate-doctor-'));
  for (const { name, config, url = (same: string) => same, found } of SERVERS)
    await t.test(`a server ${name}`, async () => {
      const file = path.join(home.path, 'nats.conf');
      await writeFile(file, config);
      const nats = await startNats({ config: file });
      try {
        const [said, ...more] = await findings(home.path, ['nats'], { HEADGATE_STORE_BUS: url(nats.url) });
        assert.match(String(said), found);
        assert.deepEqual(more, []);
      } finally {
        await nats.close();
      }
    });
});

test('doctor says what is wrong with the certificate of a server', await needs('nats-server', 'openssl'), async () => {
  await using home = await mkdtempDisposable(path.join(tmpdir(), 'headgate-doctor-'));
  const check = async (host: string, trusts: boolean) => {
    const folder = path.join(home.path, host);
    await mkdir(folder, { recursive: true });
    const config = path.join(folder, 'nats.conf');
    await writeFile(config, [await makeCertificate(folder, host), ALL].join('\n'));
    const nats = await startNats({ config });
    try {
      const HEADGATE_STORE_BUS = nats.url.replace('nats:', 'tls:').replace('127.0.0.1', 'localhost');
      const NODE_EXTRA_CA_CERTS = path.join(folder, 'cert.pem');
      const environment = { HEADGATE_STORE_BUS, ...(trusts && { NODE_EXTRA_CA_CERTS }) };
      return String(await findings(home.path, ['nats'], environment));
    } finally {
      await nats.close();
    }
  };
  assert.match(await check('localhost', false), /does not trust the authority that signed.*: Name the certificate of/);
  assert.match(await check('nats.example.com', true), /its certificate is for another host name: Use a host name of/);
  assert.match(await check('localhost', true), /^ok: NATS /);
});

test(
  'doctor says that a machine has another key, token or time than the others',
  await needs('postgresql', 'nats-server'),
  async () => {
    const { url } = await crewScene();
    await using lead = await startLead();
    await untilServing(lead);
    const home = await folderNamed('other');
    const check = () => findings(home, ['same keys'], { HEADGATE_STORE_URL: url });
    const [key, token, ...more] = await check();
    assert.match(
      String(key),
      /^problem: This home cannot read the secrets of the database: .*: Copy headgate-key and token/,
    );
    assert.match(String(token), /^problem: The operator token of this home is not the one of the active daemon/);
    assert.deepEqual(more, []);
    await copyKeys(lead.home, home);
    assert.deepEqual(await check(), ['ok: the key and the token are those of the database']);

    const clock = openClock(path.join(home, 'clock'));
    const checkClock = () => findings(home, ['clock'], { HEADGATE_STORE_URL: url, ...clock.env });
    assert.ok((await checkClock()).includes('ok: agrees with the database'));
    clock.setWrong(-90_000);
    assert.match(
      (await checkClock()).join(),
      /warning: this machine is (89|90|91) s behind the database: Set the clocks/,
    );
  },
);
