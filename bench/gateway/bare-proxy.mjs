/*
 * node bare-proxy.mjs PORT TARGET-PORT: the least a proxy on Node can do. It reads nothing, changes nothing and keeps connections.
 */
import { Agent, createServer, request as httpRequest } from "node:http";

const [port, target] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true });

createServer((request, response) => {
  const { method, url: path, headers } = request;
  const sent = httpRequest({ host: "127.0.0.1", port: target, method, path, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.socket.setNoDelay(true);
    answer.pipe(response);
  });
  sent.on("error", () => response.destroy());
  request.pipe(sent);
}).listen(port, "127.0.0.1");
