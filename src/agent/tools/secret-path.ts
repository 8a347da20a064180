/** True for a path that usually holds a credential, by its names alone: reading such a file needs a person's consent. */
export function isSecretPath(path: string): boolean {
  const names = path.toLowerCase().split(/[/\\]/).filter(Boolean);
  const file = names.at(-1) ?? '';
  return names.some((name) => FOLDERS.has(name)) || PAIRS.some((pair) => endsWith(names, pair)) || isSecretName(file);
}

const FOLDERS = new Set(['.ssh', '.aws', '.azure', '.gnupg', '.gpg', '.kube', '.password-store', 'gcloud']);
const PAIRS = [
  ['.docker', 'config.json'],
  ['gh', 'hosts.yml'],
  ['.git', 'config'],
  ['.cargo', 'credentials.toml'],
];
const NAMES = new Set(
  [
    '.netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .htpasswd .dockercfg .git-credentials .vault-token',
    '.boto .s3cfg .terraformrc terraform.tfstate kubeconfig master.key',
  ].flatMap((line) => line.split(' ')),
);
const PATTERNS = [
  /^\.env($|[.\-_])/,
  /\.env$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfvars)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?($|[.\-_])/,
  /^(credentials?|secrets?|tokens?)($|\.(json|ya?ml|toml|ini|txt|db|xml|properties|env|conf|cfg|enc)$)/,
  /(service[-_]?account|client[-_]?secrets?).*\.json$/,
];
/** Templates without values, and public halves of keys. */
const HARMLESS = [/^\.env[.\-_](example|sample|template|dist|defaults)$/, /\.pub$/];

function isSecretName(name: string): boolean {
  if (HARMLESS.some((pattern) => pattern.test(name))) return false;
  return NAMES.has(name) || PATTERNS.some((pattern) => pattern.test(name));
}

function endsWith(names: readonly string[], pair: readonly string[]): boolean {
  return names.length >= pair.length && pair.every((name, i) => names[names.length - pair.length + i] === name);
}
