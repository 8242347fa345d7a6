// Sends the requests of a relay to a fake in the place of an API. The address, the paths and the headers stay those of the API: a proxy of the
// environment has a certificate for an API at HTTPS; an API at HTTP has a port of this machine, at which the fake listens.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createListener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

/** Returns the variables for the relay, and a function that ends the redirection. */
export async function redirect(upstream, fake) {
  const { protocol, hostname, port } = new URL(upstream);
  const onward = (client) => {
    const server = connect(Number(new URL(fake).port), '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ])
      one.on('error', () => other.destroy()).pipe(other);
  };
  if (protocol === 'http:') {
    const listener = createListener(onward);
    await listening(listener, Number(port));
    return { env: {}, close: () => listener.close() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'toolwire-certificate-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const extensions = [`subjectAltName=DNS:${hostname}`, 'basicConstraints=critical,CA:FALSE'];
  const files = ['-keyout', key, '-out', cert, '-subj', `/CN=${hostname}`];
  execFileSync('openssl', ['req', ...options, ...files, ...extensions.flatMap((text) => ['-addext', text])], {
    stdio: 'pipe',
  });
  const [privateKey, certificate] = [readFileSync(key), readFileSync(cert)];
  const proxy = createServer().on('connect', (_, socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 200 Connected\r\n\r\n');
    onward(new TLSSocket(socket, { isServer: true, key: privateKey, cert: certificate }));
  });
  await listening(proxy, 0);
  const close = () => {
    proxy.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const HTTPS_PROXY = `http://127.0.0.1:${proxy.address().port}`;
  return { env: { HTTPS_PROXY, https_proxy: HTTPS_PROXY, NO_PROXY: '', no_proxy: '', SSL_CERT_FILE: cert }, close };
}

async function listening(server, port) {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
