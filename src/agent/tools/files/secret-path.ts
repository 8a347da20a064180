/** True for a path that usually holds a credential, judged by its names. Reading such a file needs approval. */
export function isSecretPath(path: string): boolean {
  const names = path
    .toLowerCase()
    .split(/[/\\]/)
    .filter((name) => name !== '' && name !== '.'); // `.env/.` is .env
  const file = names.at(-1) ?? '';
  return names.some((name) => FOLDERS.has(name)) || PAIRS.some((pair) => endsWith(names, pair)) || isSecretName(file);
}

const FOLDERS = new Set(
  ['.ssh .aws .azure .gnupg .gpg .kube .password-store gcloud .direnv direnv .doppler'].flatMap((line) =>
    line.split(' '),
  ),
);
const PAIRS = [
  ['.docker', 'config.json'],
  ['gh', 'hosts.yml'],
  ['.git', 'config'],
  ['.cargo', 'credentials.toml'],
  ['.m2', 'settings.xml'],
  ['.gradle', 'gradle.properties'],
];
const NAMES = new Set(
  [
    '.netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .my.cnf .mylogin.cnf .htpasswd .dockercfg .dockerconfigjson',
    '.git-credentials .vault-token .authinfo .boto .s3cfg .terraformrc terraform.tfstate master.key .direnvrc direnvrc .flaskenv',
    'rclone.conf wp-config.php .bash_history .zsh_history .psql_history .mysql_history',
  ].flatMap((line) => line.split(' ')),
);
const PATTERNS = [
  /^\.env(rc)?($|[.\-_])/,
  /\.env(rc)?$/,
  /\.(pem|key|p8|p12|pfx|jks|jwk|keystore|keytab|kdbx|ppk|ovpn|tfvars)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?($|[.\-_])/,
  /^id_[a-z0-9_-]+$/,
  /^\.?(credentials?|secrets?|tokens?)($|\.(json|ya?ml|toml|ini|txt|db|xml|properties|env|conf|cfg|enc)$)/,
  /(service[-_]?account|client[-_]?secrets?).*\.json$/,
  /(^|[.\-_])kubeconfig($|[.\-_])/,
];
/** Templates without values, and public keys. */
const HARMLESS = [/^\.env(rc)?[.\-_](example|sample|template|dist|defaults)$/, /\.pub$/];
/** Suffixes that editors, people and encryption append to the name of a file with the same content. */
const COPY_SUFFIX = /(~|\.(bak|backup|copy|old|orig|save|swp|swo|tmp|gpg|asc|age|\d+))+$/;

/** No file has so long a name. What is it, then? Somebody should look. */
const LONGEST_NAME = 1_000;

function isSecretName(name: string): boolean {
  if (name.length > LONGEST_NAME) return true;
  if (HARMLESS.some((pattern) => pattern.test(name))) return false;
  const original = name.replace(COPY_SUFFIX, '');
  return [name, original].some((each) => NAMES.has(each) || PATTERNS.some((pattern) => pattern.test(each)));
}

function endsWith(names: readonly string[], pair: readonly string[]): boolean {
  return names.length >= pair.length && pair.every((name, i) => names[names.length - pair.length + i] === name);
}
