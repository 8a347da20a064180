import { dropStart, type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { type SortedArguments, sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addNetwork } from '../targets.ts';

const OPTIONS = toOptions(`
  -# -0 -1 -2 -3 -4 -6 -a -B -f -g -G -i -I -j -k -l -L -M -n -N -O -J -p -R -s -S -v -V -q -Z -:
  --anyauth --append --basic --compressed --create-dirs --digest --fail --fail-early --fail-with-body --get --globoff --head --http1.0 --http1.1 --http2 --http3
  --include --insecure --ipv4 --ipv6 --junk-session-cookies --list-only --location --location-trusted --manual --negotiate --netrc --netrc-optional --next --no-buffer
  --no-keepalive --no-progress-meter --ntlm --parallel --path-as-is --post301 --post302 --post303 --progress-bar --raw --remote-header-name --remote-name
  --remote-name-all --remote-time --remove-on-error --retry-all-errors --retry-connrefused --show-error --silent --ssl --ssl-reqd --styled-output --tcp-fastopen
  --tcp-nodelay --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tr-encoding --verbose --version --xattr --doh-insecure --proxy-insecure --show-headers --skip-existing
  -A,-C,-e,-H,-m,-P,-Q,-r,-t,-u,-U,-X,-y,-Y,-z,--user-agent,--continue-at,--referer,--header,--max-time,--range,--user,--proxy-user,--request,--speed-limit,--speed-time:value
  --time-cond,--connect-timeout,--retry,--retry-delay,--retry-max-time,--max-redirs,--max-filesize,--limit-rate,--proto,--proto-redir,--proto-default,--oauth2-bearer:value
  --interface,--local-port,--ciphers,--tls-max,--aws-sigv4,--keepalive-time,--proxy-header,--noproxy,--request-target,--parallel-max,--rate,--dns-servers,--pinnedpubkey:value
  -d,-F,-w,--data,--data-ascii,--data-binary,--data-urlencode,--form,--write-out,--json,--url-query,-b,--cookie:value --data-raw,--form-string:value
  -E,-T,--cert,--key,--cacert,--capath,--crlfile,--upload-file,--netrc-file,--etag-compare:read
  -o,-c,-D,--output,--cookie-jar,--dump-header,--trace,--trace-ascii,--stderr,--etag-save,--hsts,--alt-svc,--libcurl,--output-dir:write
  -x,--proxy,--preproxy,--socks4,--socks4a,--socks5,--socks5-hostname,--doh-url,--url:host
  -K,--config,--resolve,--connect-to,--unix-socket,--abstract-unix-socket,--engine,--telnet-option:unknown
`);
const DATA =
  /^(-[dFHwb]|--(header|proxy-header|data|data-ascii|data-binary|data-urlencode|form|write-out|json|url-query|cookie))$/;

/** curl: hosts, and every file that it sends or stores. */
function curl(call: ProgramCall): void {
  const args = sortArguments(call.args, OPTIONS);
  const { operands, values, given, strange } = args;
  for (const word of strange) addUnknown(call, word);
  if (given.has('--version') || given.has('-V')) return;
  for (const { name, use, word } of values) {
    if (name === '--url') addAddress(call, word);
    else addUse(call, use, word);
    if (DATA.test(name)) addData(call, name, word);
  }
  for (const word of operands) addAddress(call, word);
  if (given.has('-L') || given.has('--location') || given.has('--location-trusted')) addNetwork(call);
  addDownloads(call, args);
}

function addAddress(call: ProgramCall, word: ShellWord): void {
  // curl decodes the path, cuts off a query or fragment, and has patterns of its own.
  if (/^file:.*[%?#{}[\]\\]/is.test(word.value ?? word.start)) addUnknown(call, word);
  else if (/^file:/i.test(word.start))
    addUse(call, 'read', dropStart(word, /^file:(\/\/(localhost)?)?/i.exec(word.start)?.[0].length ?? 0));
  else addUse(call, 'host', word);
}

/** `@file` in data, after the name of a field, too; cookies without `=` are a file. */
function addData(call: ProgramCall, name: string, word: ShellWord): void {
  const isFormat = name === '-w' || name === '--write-out';
  // The format of the output may name files to write.
  if (isFormat && (word.value === undefined || /^@|%output\{/.test(word.value))) addUnknown(call, word);
  const isCookie = name === '-b' || name === '--cookie';
  const [before] = /^[^@<]*[@<]/.exec(word.start) ?? [];
  if (isCookie && !word.start.includes('=')) addUse(call, 'read', word);
  else if (before !== undefined && !isCookie) addUse(call, 'read', cutAttributes(dropStart(word, before.length)));
  else if (word.value === undefined) addUse(call, 'read', word);
}

/** Without the type in `@file;type=text/plain`. */
function cutAttributes(word: ShellWord): ShellWord {
  return word.value === undefined ? word : toKnownWord(word.value.split(';')[0] ?? '');
}

/** -O stores under the name of the URL, -J under a name of the server. */
function addDownloads(call: ProgramCall, { given, values }: SortedArguments): void {
  if (!['-O', '-J', '--remote-name', '--remote-name-all', '--remote-header-name'].some((name) => given.has(name)))
    return;
  if (!values.some(({ name }) => name === '--output-dir')) addFolder(call, 'write');
}

/** The rule of curl. */
export const CURL = toRules({ curl });
