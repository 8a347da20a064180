import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findObstacle, isEdit, isHarmless } from './harmless.ts';
import { readCommand } from './read-command.ts';
import { type NameReader, resolveLinks } from './resolve-links.ts';

const PLACES = { roots: ['/work'] };
const read = (command: string) => readCommand(command, { folder: '/work', home: '/home/me' });
const harmless = (command: string): boolean => isHarmless(read(command), PLACES);
const edit = (command: string): boolean => isEdit(read(command), PLACES);

const HARMLESS = [
  ...['ls', 'ls -la src', 'cat README.md | head -20', 'grep -rn TODO src | wc -l', 'rg -n TODO', 'find . -name "*.ts"'],
  ...['git status', 'git diff HEAD~1 -- src', 'git log --oneline -5', 'git -C src blame a.ts', 'git stash list'],
  ...['wc -l src/*.ts', 'cat src/{a,b}.ts', 'head -3 *.md 2>/dev/null', 'sed -n 1,20p a.ts', "awk '{print $1}' a.txt"],
  ...[
    'cat /etc/os-release',
    'ls /usr/lib',
    'ls /etc',
    'cat /etc/*release',
    'find . -name "*.c" -type f -exec grep -l main {} +',
  ],
  ...[
    'ls -l .env',
    'stat .git/config',
    'echo "$HOME"',
    'cd src && cat a.ts',
    'cd src || exit\nx=1\ncat a.ts',
    'cd src || exit; echo $((1+1)); cat a.ts',
    'pwd; date; uname -a',
    'pip list',
    'npm ls',
  ],
  ...[
    'for i in 1 2 3; do echo $i; done',
    'head -n "$x" a.txt',
    'find . -name *.c',
    'grep -rn main --include=*.c src',
    'SECONDS=0; ls; echo $SECONDS',
    'sleep 1 & wait $!',
    'a=([1]=x [2]=y); echo "$RANDOM"',
    'test -f a.txt && cat a.txt',
    'diff a.txt b.txt | head',
    'jq .name package.json',
  ],
  ...[
    'git branch --sort=-committerdate',
    'git branch --contains HEAD~2',
    "git tag --list 'v2.*' --column=row",
    'git tag',
    'git config --get user.name',
    'git config list --show-origin',
    'git config user.email',
    'git ls-files .env',
    'for path in src lib; do echo "$path"; done',
    'sleep 1 & pid=$!; wait $pid; ls',
    'while read -r line; do echo "$line"; done < a.txt',
  ],
];

const EDITS = [
  ...['chmod --ref=a.txt b.txt', 'ln -s a.txt b.txt', 'ln a.txt b.txt', 'ln -s ../a.txt src/b.txt'],
  ...['touch a.txt', 'echo x > a.txt', 'mkdir -p src/new', 'mv a.txt b.txt', 'rm a.txt', 'rm -rf build', 'rm src/*.o'],
  ...[
    'sed -i s/a/b/ a.ts',
    'cp -r src lib',
    'npm test',
    'npm run build',
    'npx tsc --noEmit',
    'cargo test',
    'make -j4 all',
  ],
  ...[
    'go test ./...',
    'pytest -q tests/test_a.py',
    'git add -A',
    "git commit -m 'x'",
    'tar xzf a.tgz',
    'chmod +x run.sh',
  ],
];

const OTHERS = [
  // Secrets, homes, other folders and links.
  ...['cat .env', 'cat .e*', 'cat *.pem', 'head id_*', 'cat ~/.bashrc', 'ls ~', 'cat /home/me/x', 'cat /etc/shadow'],
  ...[
    'grep -r x /etc',
    'cat /etc/s*',
    'cat /root/x',
    'cat ../other/x',
    'cat /proc/self/environ',
    'cat .*',
    'cat {..,.}/x',
    'cat {,}~/x',
    'touch .Husky/pre-commit agents.md',
    'shopt -s nullglob; grep -v -e src/*.c -e .env README.md',
    "sh -c $'cd /srv/x || exit; echo $((1/0)); cd /work || exit\\ncat a.txt'",
    'shopt -s failglob\ncd /srv/x || exit; echo /work/*.c; cd /work || exit\ncat a.txt',
  ],
  ...[
    'cat "$FILE"',
    'cat $(ls)',
    'grep $PATTERN /etc/shadow',
    'git diff --no-index /etc/shadow a',
    'git -C /srv/x log',
  ],
  ...['cat .git/config', 'ls | xargs cat', 'jq -n \'import "/home/me/x" as $x; $x\'', 'grep --fil /etc/shadow a.txt'],
  // Other programs, code, processes, the network and the machine.
  ...[
    'curl https://example.com',
    'kill 1',
    'sudo ls',
    'node a.js',
    'python -c 1',
    './run.sh',
    'bash run.sh',
    'git push',
  ],
  ...[
    'npm install',
    'npx cowsay',
    'PATH=. ls',
    'man -P x ls',
    'less +!x a.txt',
    'diff3 --diff-prog=./x a b c',
    'git -c a.b=c log',
  ],
  ...['cat < /dev/tcp/example.com/80', 'systemctl stop x', 'docker ps', 'eval "$X"', 'ls\0', '$PROGRAM a', 'git stash'],
  // Changes elsewhere, of everything, or of what other programs obey.
  ...['touch /tmp/x', 'rm -rf /', 'rm -rf .', 'rm -rf *', 'rm -rf /work', 'find . -delete', 'echo x > ~/.bashrc'],
  ...[
    'echo x > .git/hooks/pre-commit',
    'rm -rf .git',
    'echo x >> .envrc',
    'touch sub/AGENTS.md',
    'cp x node_modules/.bin/tsc',
  ],
  ...[
    'tee .vscode/settings.json',
    'mv a .github/../.mcp.json',
    'touch .bash*',
    'make -f /tmp/x',
    'make SHELL=/tmp/x',
    'pytest /tmp/x',
  ],
  ...[
    'npm --prefix /x test',
    'make --eval=x',
    'git config core.pager x',
    'chown x a.txt',
    'git reset --hard',
    'git clean -fdx',
  ],
  // Shortened options.
  ...["sed --exp='1e touch x' a.txt", "env --spl='touch x'", 'env --ch=/etc cat shadow', 'env --ch /srv cat x'],
  ...['git grep --open-files-in-p=x y', 'git log --ext-d', 'git show --textc', 'git archive --rem=x HEAD'],
  ...['git commit --fil=/srv/x', 'git commit -qF a.txt', 'git commit -aF a.txt', 'git commit --gpg-s -m x'],
  ...['grep --reg=x /srv/a', 'npm test --script-sh=x', 'npm --pre x test', 'npx --pac=x tsc', 'make --ev=x', 'ss --ki'],
  ...['grep --fi=.env a.txt', 'chmod --ref=a.txt /srv/x'],
  ...['curl --ur example.com', 'curl --pro example.com https://example.org'],
  // What a link leads to.
  ...['ln .env x', 'ln -s .env x; cat x', 'ln -s /srv/a x; cat x', 'ln -t x .env'],
  // What a command of git shows, unless its other arguments say otherwise.
  ...['git branch -v -D x', 'git branch -r -d o/x', 'git branch -q x', 'git branch -v x', 'git branch --sort=x -m a b'],
  ...['git branch --list -D x', 'git branch --show-current --unset-upstream', 'git tag -a v1', 'git tag -n -d v1'],
  ...['git config --add core.fsmonitor get', 'git config core.fsmonitor ./x list', 'git config --list --unset core.x'],
  ...['git config get --unset core.x', 'git config edit', 'git config set core.pager get', 'git config $X'],
  ...['git stash -m list', 'git notes --ref list add -m x', 'git bisect view push', 'git bisect visualize x'],
  // Secrets that are recorded.
  ...['git status -v .env', 'git status -sv .env', 'git status --verb -- .env', 'git commit --dry-run -v .env'],
  ...['git blame .env', 'git log -p -- .env', 'git diff HEAD .env', 'git show :0:.env', 'git log -L 1,5:.env'],
  ...['git archive HEAD .env', 'git archive --add-file=/srv/x HEAD', 'git grep -e x -- id_rsa'],
  // Variables that are set without an assignment.
  ...['printf -v PATH /x; ls', 'printf -vPATH /x; ls', 'read PATH < a.txt; ls', 'read -aPATH < a.txt; ls'],
  ...['mapfile -t PATH < a.txt; ls', 'for PATH in /x; do ls; done', 'while read -r PATH; do ls; done < a.txt'],
  ...[
    '((PATH = 1)); ls',
    'let PATH=1; ls',
    'echo $((PATH = 1)); ls',
    'exec {PATH}< a.txt; ls',
    'coproc PATH { cat; }; ls',
  ],
  ...[`echo \${PATH:=x}; ls`, `: \${CDPATH:=/srv}; cd x; cat a.txt`, 'wait -p PATH; ls', 'read HOME < a.txt; cat ~/x'],
  // A file that names other files, or arguments.
  ...[
    'sort --files0-from=list',
    'sort --files0=list',
    'wc --files0-from=list',
    'du --files0-from list',
    'file -f list',
  ],
  ...[
    "printf '/srv/x\\0' | sort --files0-from=-",
    'xzcat -f --files=list',
    'xzcat -f --files < list',
    'tar cf - -T list',
  ],
  ...['strings @list', 'nm @list', 'size @list'],
  // Programs that options start.
  ...['nm --plugin=./x.so a.o', 'nm --plug ./x.so a.o', 'git grep -nO./x main', 'git grep -inO main'],
  // Links in folders.
  ...['find . -name "*.c" -exec cat {} +', 'find . -type l -exec cat {} +', 'find . ! -type f -exec cat {} +'],
  ...['find . -exec cat {} + -type f', 'find . -print0 -type f -print0 | xargs -0 cat'],
  ...['find . -type f -o -name x -exec cat {} +', 'find . -print0 | xargs -0 cat', 'diff -ru src lib', 'tar chf - src'],
  ...['tar -cf - --deref src', 'zip -r out.zip src', 'cp -rL src lib'],
  // The file that curl opens has another name.
  ...['curl file:///work/%2eenv', 'curl "file:///work/%2e%2e/srv/x"', 'curl "file:///work/.env#x"'],
  ...['curl "file:///work/{.env,x}"', 'curl "file:///work/.en[v-v]"', 'curl "file:///work/.env?x"'],
  // Words that a text decides about, as options and operands.
  ...['head -n $x a.txt', 'head -n$x a.txt', 'head --lines=$x a.txt', 'cut -f $(cat a.txt) b.txt', 'cat -$x'],
  ...['find . -name $x', 'find . -maxdepth $(cat a.txt)', 'find . -exec echo $x {} +', 'jq --arg y $x . a.json'],
  // What keeps git from folders that only look like repositories.
  ...[
    'GIT_CONFIG_COUNT=0; git -C x status',
    'unset GIT_CONFIG_COUNT; git status',
    'declare +x GIT_CONFIG_KEY_0; git log',
  ],
  ...['read GIT_CONFIG_VALUE_0 < a.txt; git status', 'for GIT_DIR in x; do git status; done', 'git --git-dir=x status'],
  // Texts that bash evaluates.
  ...['x=$(cat a.txt); wait $x', 'x=$(cat a.txt); wait "$x"', 'jobs -x ./x', 'x=$(cat a.txt); jobs $x'],
  ...['RANDOM=$(cat a.txt)', 'read OPTIND < a.txt', 'for HISTCMD in $(cat a.txt); do ls; done', 'SRANDOM=$x'],
  ...['unset SECONDS; SECONDS=$x; echo $((SECONDS))', 'x=$(cat a.txt); a=([x]=1)', 'x=$(cat a.txt); a+=([$x]=1)'],
  ...['grep -nf.env a.txt', 'hexdump -Cf.env a.txt', 'cat .E*', 'fd --search-path /srv x', 'fd --base-directory=/srv'],
];

test('commands that only read the roots and the system are harmless', () => {
  assert.deepEqual(
    HARMLESS.filter((command) => !harmless(command)),
    [],
  );
});

test('changes in the roots, builds and tests are edits, and not harmless', () => {
  assert.deepEqual(
    EDITS.filter((command) => !edit(command) || harmless(command)),
    [],
  );
  assert.deepEqual(
    HARMLESS.filter((command) => !edit(command)),
    [],
  );
});

test('secrets, other places, other effects and what is not known are neither', () => {
  assert.deepEqual(
    OTHERS.filter((command) => harmless(command) || edit(command)),
    [],
  );
});

test('an obstacle is the effect or the gap', () => {
  const obstacle = findObstacle(read('cat a.txt && curl https://example.com'), 'edit', PLACES);
  assert.deepEqual(obstacle?.kind === 'effect' && obstacle.effect.target, 'example.com');
  assert.equal(findObstacle(read('alias x=ls'), 'harmless', PLACES)?.kind, 'gap');
});

/** `/work/out` leads to `/srv/out`, `/work/key.txt` to a credential. */
const NAMES: NameReader = {
  realpath: async (file) => {
    const links: Record<string, string> = { '/work/out': '/srv/out', '/work/key.txt': '/work/id_rsa' };
    return links[file] ?? (/^\/(work(\/src)?|work\/a\.txt)?$/.test(file) ? file : undefined);
  },
  list: async (folder) => (folder === '/work' ? ['a.txt', 'key.txt', 'out', 'src', '.env'] : []),
};

test('links are resolved before paths are compared, also those that a pattern matches', async () => {
  const check = async (command: string) => isEdit(await resolveLinks(read(command), NAMES, '/work'), PLACES);
  const passed = [
    'cat a.txt',
    'cat a*',
    'cat src/new',
    'touch src/deep/new',
    'cat s*/*.ts',
    'cat ?.txt',
    'cat [[:lower:]].txt',
  ];
  const stopped = [
    'cat key.txt',
    'cat out/x',
    'cat *',
    'cat k*',
    'cat *.txt',
    'cat [[:lower:]]*.txt',
    'echo > out',
    'rm o*',
  ];
  assert.deepEqual(await Promise.all([...passed, ...stopped].map(check)), [
    ...passed.map(() => true),
    ...stopped.map(() => false),
  ]);
});
