import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretPath } from './secret-path.ts';

test('files that usually hold a credential are known by their names', () => {
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
  ];
  assert.deepEqual(
    secret.filter((path) => !isSecretPath(path)),
    [],
  );
});

test('ordinary files, templates and public keys are not', () => {
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
  ];
  assert.deepEqual(harmless.filter(isSecretPath), []);
});
