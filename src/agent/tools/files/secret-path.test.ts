import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretPath } from './secret-path.ts';

test('files that usually hold a credential are recognised by name', () => {
  const secret = [
    ...[
      '.env',
      '.env.local',
      'app/.ENV.production',
      'prod.env',
      'server.pem',
      'tls/server.KEY',
      'id_rsa',
      '.ssh/config',
    ],
    ...['id_ed25519.old', '.aws/config', 'credentials', 'credentials.json', '.netrc', '.npmrc', '.git-credentials'],
    ...['secrets.yaml', 'token', 'gcp-service-account-prod.json', '.docker/config.json', '.git/config', 'a.tfvars'],
    ...['.envrc', '.envrc.local', 'app/.ENVRC', 'prod.envrc', '.direnv/python', '.config/direnv/direnvrc', '.pypirc'],
    ...['.env~', '.envrc.bak', 'id_rsa.old', 'server.key.orig', '.npmrc.1', '.netrc.gpg', '.credentials.swp'],
    ...['id_work', 'kubeconfig', 'prod-kubeconfig.yaml', 'cluster.kubeconfig', 'a.p8', '.m2/settings.xml', '.yarnrc'],
  ];
  assert.deepEqual(
    secret.filter((path) => !isSecretPath(path)),
    [],
  );
});

test('ordinary files, templates and public keys are not secrets', () => {
  const harmless = [
    ...[
      'README.md',
      'src/environment.ts',
      '.env.example',
      'docs/.env.sample',
      'id_rsa.pub',
      'keyboard.ts',
      'tokens.ts',
    ],
    ...['src/secrets.ts', 'config.json', '.gitignore', 'credentials.md', '.git/HEAD', '.'],
    ...['.envrc.example', 'id_generator.ts', 'environment.envoy.yaml', 'settings.xml', 'README.md.bak', 'direnv.md'],
  ];
  assert.deepEqual(harmless.filter(isSecretPath), []);
});
