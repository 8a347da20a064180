import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';
import { resolveOidc } from './oidc-config.ts';

const MINIMAL = { issuer: 'https://sso.example.com', clientId: 'headgate' };

interface Given {
  environment?: Record<string, string>;
  publicUrl?: string;
  isLoopback?: boolean;
}

function resolve(oidc: object, { environment = {}, publicUrl, isLoopback = true }: Given = {}) {
  const { config } = parseConfig(JSON.stringify({ oidc }), 'config.json');
  const settings = resolveOidc(config.oidc, {
    environment,
    publicUrl,
    isLoopback,
    baseUrl: () => 'http://127.0.0.1:7717',
  });
  return settings && { ...settings, base: settings.base(), roleMap: Object.fromEntries(settings.roleMap) };
}

const refusal = (oidc: object, given: Given = {}) => {
  try {
    resolve(oidc, given);
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : '';
  }
};

const RESOLVED = {
  ...MINIMAL,
  ...{ clientSecret: undefined, scopes: ['openid', 'profile', 'email'], providerName: 'SSO', roleClaim: undefined },
  ...{ roleMap: {}, defaultRole: 'builtin-viewer', createUsers: true, passwordEnabled: true },
  base: 'http://127.0.0.1:7717',
};

test('without an issuer there is no provider', () => {
  assert.deepEqual([resolve({}), resolve({ clientId: 'x', providerName: 'Lab' })], [undefined, undefined]);
});

test('a provider needs an issuer and a client id; everything else has a default', () => {
  assert.deepEqual(resolve(MINIMAL), RESOLVED);
  assert.match(refusal({ issuer: MINIMAL.issuer }), /oidc: needs clientId/);
});

test('variables win over config.json', () => {
  const environment = {
    ...{ SERVICE_OIDC_ISSUER: 'http://localhost:9000/x', SERVICE_OIDC_CLIENT_ID: 'c', SERVICE_OIDC_CLIENT_SECRET: 's' },
    ...{ SERVICE_OIDC_SCOPES: 'groups, email', SERVICE_OIDC_PROVIDER_NAME: 'Lab', SERVICE_OIDC_ROLE_CLAIM: 'g' },
    ...{ SERVICE_OIDC_ROLE_MAP: 'a=builtin-admin, b = ops', SERVICE_OIDC_PASSWORD_ENABLED: 'no' },
    SERVICE_OIDC_REDIRECT_BASE: 'https://chat.example.com/',
  };
  assert.deepEqual(resolve({ ...MINIMAL, clientSecretEnv: 'UNUSED', defaultRole: '' }, { environment }), {
    ...RESOLVED,
    ...{ issuer: 'http://localhost:9000/x', clientId: 'c', clientSecret: 's', scopes: ['openid', 'groups', 'email'] },
    ...{ providerName: 'Lab', roleClaim: 'g', roleMap: { a: 'builtin-admin', b: 'ops' }, passwordEnabled: false },
    ...{ defaultRole: undefined, base: 'https://chat.example.com' },
  });
  const json = { SERVICE_OIDC_ROLE_MAP: '{"a,b=c": "ops"}' };
  assert.deepEqual(resolve(MINIMAL, { environment: json })?.roleMap, { 'a,b=c': 'ops' });
});

test('a variable that is invalid is named without its value', () => {
  for (const [name, value] of Object.entries({
    SERVICE_OIDC_ISSUER: 'http://sso.example.com',
    SERVICE_OIDC_ROLE_MAP: 'staff',
    SERVICE_OIDC_PASSWORD_ENABLED: 'perhaps',
    SERVICE_OIDC_REDIRECT_BASE: 'chat.example.com',
    SERVICE_OIDC_CLIENT_SECRET: 's'.repeat(5_000),
  })) {
    const message = refusal(MINIMAL, { environment: { [name]: value } });
    assert.match(message, new RegExp(`^StartError: oidc: .*\\(${name}\\)`));
    assert.equal(message.includes(value), false);
  }
});

test('an issuer is an https address, or http on a loopback address', () => {
  const accepted = [
    'https://a.example',
    'https://a.example/b/',
    'http://localhost:1',
    'http://127.0.0.1/x',
    'http://[::1]:9',
  ];
  assert.deepEqual(
    accepted.filter((issuer) => refusal({ ...MINIMAL, issuer }) !== 'accepted'),
    [],
  );
  const refused = [
    'http://a.example',
    'http://10.0.0.1',
    'ftp://a',
    'a.example',
    'https://a.example?x=1',
    'https://a.example#x',
  ];
  for (const issuer of [...refused, 'https://u:p@a.example', 'http://localhost.evil.example', 'javascript:alert(1)'])
    assert.match(refusal({ ...MINIMAL, issuer }), /oidc\.issuer: must be an https address/, issuer);
});

test('the secret comes from one place, which must exist', () => {
  const environment = { HEADGATE_KEY_SSO: 'hush' };
  const named = { ...MINIMAL, clientSecretEnv: 'HEADGATE_KEY_SSO' };
  assert.equal(resolve(named, { environment })?.clientSecret, 'hush');
  assert.equal(refusal(named), 'StartError: oidc.clientSecretEnv: the environment has no HEADGATE_KEY_SSO');
  assert.match(refusal({ ...named, clientSecret: 'x' }), /both clientSecret and clientSecretEnv/);
});

test('a daemon that others can reach needs to know its address', () => {
  const isLoopback = false;
  assert.match(refusal(MINIMAL, { isLoopback }), /^StartError: oidc\.redirectBase: required/);
  assert.equal(
    resolve(MINIMAL, { isLoopback, publicUrl: 'https://chat.example.com' })?.base,
    'https://chat.example.com',
  );
});
