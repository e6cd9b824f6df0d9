// The files people deploy with, read by the programs that will read them (hadolint, the reference reader of compose files, Helm,
// systemd) and held to what they promise: nobody's user, nothing writable but the data, secrets from outside.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../src/config.ts';
import { findJudge } from '../support/judge-binaries.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-deployment-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const variables = new Set(settings.flatMap(({ name }) => [`GATEHOUSE_${name.toUpperCase()}`, `GATEHOUSE_${name.toUpperCase()}_FILE`]));

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly output: string;
}
function run(command: string, args: readonly string[], cwd = root): Ended {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder } });
  return { status, stdout, output: `${stdout}${stderr}` };
}

describe('Dockerfile', () => {
  const instructions = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(/\s+/);
      return { name, rest: rest.join(' ') };
    });
  const stages = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest);
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const only = (name: string): string => {
    const found = last.filter((instruction) => instruction.name === name);
    assert.equal(found.length, 1, name);
    return found[0]!.rest;
  };

  const hadolint = findJudge('hadolint');
  if (hadolint !== undefined)
    it('hadolint finds nothing, and does find a mistake', () => {
      const ended = run(hadolint, ['Dockerfile']);
      assert.equal(ended.status, 0, ended.output);
      writeFileSync(join(folder, 'Dockerfile'), 'FROM node\nRUN cd /tmp && sudo true\n');
      assert.notEqual(run(hadolint, [join(folder, 'Dockerfile')]).status, 0);
    });

  it('builds in one stage and runs in another, both on the Node the repository pins', () => {
    const { devDependencies } = JSON.parse(read('package.json'));
    const image = `node:${devDependencies.node}-bookworm-slim`;
    assert.deepEqual(stages, [`${image} AS build`, image]);
  });

  it('runs as a user without a name, checks its health, and writes in /data only', () => {
    assert.match(only('USER'), /^\d{5}:\d{5}$/);
    assert.equal(only('VOLUME'), '/data');
    assert.match(last.find(({ name }) => name === 'ENV')!.rest, /GATEHOUSE_DATA=\/data/);
    assert.match(only('HEALTHCHECK'), /--interval=\d+s .*CMD \["node", "-e", "fetch\('http:\/\/127\.0\.0\.1:8080\/health\/ready'\)/);
    assert.equal(only('ENTRYPOINT'), '["/app/bin/gatehouse"]');
    assert.ok(last.findIndex(({ name }) => name === 'USER') > last.findLastIndex(({ name }) => name === 'RUN'));
  });

  it('copies what exists and what .dockerignore lets through, and no secret, test or database', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const copied = instructions
      .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
      .map(({ rest }) => rest.split(' ').slice(0, -1));
    assert.ok(copied.flat().length > 10);
    for (const path of copied.flat()) {
      assert.ok(existsSync(join(root, path)), path);
      assert.ok(
        allowed.some((line) => path === line.slice(1) || path.startsWith(`${line.slice(1)}/`)),
        `.dockerignore keeps ${path} out`,
      );
    }
    assert.ok(read('.dockerignore').startsWith('*\n'));
  });

  it('its health check tells a server that answers from one that does not', () => {
    const [, script] = /CMD \["node", "-e", "(.+)"\]/.exec(only('HEALTHCHECK'))!;
    const elsewhere = script!.replace('127.0.0.1:8080', '127.0.0.1:1');
    assert.equal(run(process.execPath, ['-e', elsewhere]).status, 1);
    const asked = script!.replace("'http://127.0.0.1:8080/health/ready'", "'http://127.0.0.1:' + server.address().port");
    const answering = `const server = require('http').createServer((_, answer) => answer.end()).listen(0, () => { ${asked} })`;
    assert.equal(run(process.execPath, ['-e', answering]).status, 0);
  });
});

describe('compose.yaml', () => {
  interface Service {
    readonly image: string;
    readonly read_only?: boolean;
    readonly cap_drop?: readonly string[];
    readonly user?: string;
    readonly ports?: readonly unknown[];
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  }
  const compose: { readonly services: Readonly<Record<string, Service>> } = parse(read('compose.yaml'), { merge: true });

  it('Gatehouse waits for its migration and for healthy services, is read-only, and is reached on loopback only', () => {
    const { gatehouse, migrate } = compose.services;
    assert.deepEqual(gatehouse!.depends_on, {
      migrate: { condition: 'service_completed_successfully' },
      redis: { condition: 'service_healthy' },
    });
    assert.deepEqual(migrate!.depends_on, { postgres: { condition: 'service_healthy' } });
    assert.deepEqual(migrate!.command, ['migrate']);
    for (const service of [gatehouse!, migrate!]) {
      assert.equal(service.read_only, true);
      assert.deepEqual(service.cap_drop, ['ALL']);
      for (const name of Object.keys(service.environment!)) assert.ok(variables.has(name), name);
    }
    assert.deepEqual(gatehouse!.ports, ['127.0.0.1:8080:8080']);
    assert.equal(compose.services['postgres']!.ports, undefined);
  });

  it('holds no secret: each comes from outside and is demanded', () => {
    const text = read('compose.yaml');
    for (const name of ['GATEHOUSE_MASTER_KEY', 'GATEHOUSE_OPERATOR_TOKEN', 'POSTGRES_PASSWORD'])
      assert.match(text, new RegExp(`\\$\\{${name}:\\?expected`), name);
  });

  const judge = findJudge('compose-check');
  if (judge !== undefined)
    it('the reference reader takes it, demands the secrets, and names a key it does not know', () => {
      const taken = run(judge, ['-no-interpolation', '-format', 'json', 'compose.yaml']);
      assert.equal(taken.status, 0, taken.output);
      assert.deepEqual(Object.keys(JSON.parse(taken.stdout).services).sort(), ['gatehouse', 'migrate', 'postgres', 'redis']);
      assert.match(run(judge, ['compose.yaml']).output, /GATEHOUSE_MASTER_KEY is missing a value: expected 32 bytes in base64/);
      writeFileSync(join(folder, 'compose.yaml'), read('compose.yaml').replace('    restart:', '    restrat:'));
      assert.match(run(judge, ['-no-interpolation', join(folder, 'compose.yaml')]).output, /restrat/);
    });
});

describe('systemd unit', () => {
  const judge = findJudge('systemd-analyze');
  if (judge !== undefined) {
    const unit = join(folder, 'gatehouse.service');
    const write = (text: string): void => writeFileSync(unit, text.replace('/usr/bin/gatehouse', join(root, 'bin', 'gatehouse')));

    it('systemd takes it, and names a setting it does not know', () => {
      write(read('deploy/systemd/gatehouse.service'));
      const ended = run(judge, ['verify', unit]);
      assert.equal(ended.status, 0, ended.output);
      assert.doesNotMatch(ended.output, /gatehouse\.service/);
      write(read('deploy/systemd/gatehouse.service').replace('UMask=', 'Umaks='));
      assert.match(run(judge, ['verify', unit]).output, /Unknown key.* 'Umaks'/);
    });

    it('systemd counts its exposure as 1.5 or less', () => {
      write(read('deploy/systemd/gatehouse.service'));
      const ended = run(judge, ['security', '--offline=true', '--threshold=15', '--no-pager', unit]);
      assert.equal(ended.status, 0, ended.output.slice(-400));
      assert.match(ended.output, /Overall exposure level for gatehouse\.service/);
    });
  }
});

describe('Helm chart', () => {
  const judge = findJudge('helm');
  const chart = 'deploy/helm/gatehouse';
  const needed = ['--set', 'publicUrl=https://id.example.com,existingSecret=gatehouse,image.repository=registry.example.com/gatehouse'];

  it('carries the version of the program', () => {
    const { version, appVersion } = parse(read(`${chart}/Chart.yaml`));
    assert.deepEqual([version, appVersion], [JSON.parse(read('package.json')).version, JSON.parse(read('package.json')).version]);
  });

  if (judge !== undefined) {
    // biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects of many kinds
    type Manifest = any;
    const render = (...args: readonly string[]): readonly Manifest[] => {
      const ended = run(judge, ['template', 'id', chart, '--kube-version', '1.31.0', ...needed, ...args]);
      assert.equal(ended.status, 0, ended.output);
      return parseAllDocuments(ended.stdout).map((document) => document.toJS());
    };
    const ofKind = (manifests: readonly Manifest[], kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind);

    it('helm lint --strict finds nothing', () => {
      const ended = run(judge, ['lint', '--strict', '--kube-version', '1.31.0', chart, ...needed]);
      assert.equal(ended.status, 0, ended.output);
    });

    it('without a public URL, a secret or an image, or with a setting that is none, it says what is missing', () => {
      assert.match(run(judge, ['template', 'id', chart, '--kube-version', '1.31.0']).output, /publicUrl.*pattern|existingSecret/s);
      assert.match(
        run(judge, ['template', 'id', chart, '--kube-version', '1.31.0', ...needed, '--set', 'image.repository=']).output,
        /repository/,
      );
      assert.match(run(judge, ['template', 'id', chart, '--kube-version', '1.31.0', ...needed, '--set', 'replcas=2']).output, /replcas/);
      assert.notEqual(run(judge, ['template', 'id', chart, '--kube-version', '1.31.0', ...needed, '--set', 'settings.FOO=1']).status, 0);
    });

    it('pods are nobody’s, read-only, without a token, and get only variables Gatehouse knows', () => {
      const manifests = render('--set', 'settings.GATEHOUSE_MAIL_FROM=id@example.com,trustedProxies={10.0.0.0/8}');
      for (const kind of ['Deployment', 'Job']) {
        const pod = ofKind(manifests, kind).spec.template.spec;
        assert.equal(pod.automountServiceAccountToken, false, kind);
        assert.equal(pod.enableServiceLinks, false, kind); // or Kubernetes sets GATEHOUSE_PORT, which the program refuses
        assert.equal(pod.securityContext.runAsNonRoot, true, kind);
        const [container] = pod.containers;
        assert.equal(container.securityContext.readOnlyRootFilesystem, true, kind);
        assert.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] }, kind);
        const environment: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[] = container.env;
        for (const { name } of environment) assert.ok(variables.has(name), name);
        const secret = environment.filter(({ valueFrom }) => valueFrom !== undefined).map(({ name }) => name);
        for (const name of ['GATEHOUSE_DATABASE_URL', 'GATEHOUSE_MASTER_KEY', 'GATEHOUSE_OPERATOR_TOKEN'])
          assert.ok(secret.includes(name), name);
      }
    });

    it('the schema is brought up to date before pods of a new release start; probes ask what the server answers', () => {
      const manifests = render();
      const job = ofKind(manifests, 'Job');
      assert.equal(job.metadata.annotations['helm.sh/hook'], 'pre-install,pre-upgrade');
      const [container] = ofKind(manifests, 'Deployment').spec.template.spec.containers;
      assert.deepEqual(job.spec.template.spec.containers[0].args, ['migrate']);
      assert.equal(job.spec.template.spec.containers[0].image, container.image);
      const paths = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => container[probe].httpGet.path);
      assert.deepEqual(paths, ['/health/started', '/health/ready', '/health/live']);
      const service = ofKind(manifests, 'Service');
      assert.deepEqual(service.spec.selector, ofKind(manifests, 'Deployment').spec.selector.matchLabels);
      const labels = ofKind(manifests, 'Deployment').spec.template.metadata.labels;
      for (const [name, value] of Object.entries(service.spec.selector)) assert.equal(labels[name], value);
      assert.ok(!Object.entries(service.spec.selector).every(([name, value]) => job.spec.template.metadata.labels[name] === value));
    });

    it('the ingress serves the public URL’s host and the custom domains, and exists only when asked for', () => {
      assert.equal(ofKind(render(), 'Ingress'), undefined);
      const ingress = ofKind(
        render('--set', 'ingress.enabled=true,ingress.tlsSecret=tls,ingress.extraHosts={login.acme.example}'),
        'Ingress',
      );
      const hosts = ['id.example.com', 'login.acme.example'];
      assert.deepEqual(
        ingress.spec.rules.map((rule: { readonly host: string }) => rule.host),
        hosts,
      );
      assert.deepEqual(ingress.spec.tls, [{ hosts, secretName: 'tls' }]);
    });

    it('one replica has no disruption budget, two have', () => {
      assert.equal(ofKind(render('--set', 'replicas=1'), 'PodDisruptionBudget'), undefined);
      assert.equal(ofKind(render(), 'PodDisruptionBudget').spec.maxUnavailable, 1);
    });
  }
});
