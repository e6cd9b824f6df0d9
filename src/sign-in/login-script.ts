// The one script of the sign-in pages, inlined under the page's nonce. Everything works without it: it only watches a waiting
// sign-in, renews the code before it stops working, continues an approved one, and keeps an impatient second click from overtaking the first.

export const loginScript = `(()=>{
const d=document,live=d.querySelector('[data-live]'),auto=d.querySelector('form[data-auto]');
addEventListener('submit',e=>{const f=e.target;if(f.dataset.sent){e.preventDefault();return}f.dataset.sent='1'});
addEventListener('pageshow',()=>{for(const f of d.forms)delete f.dataset.sent});
if(auto)auto.requestSubmit();
if(live){const path=live.dataset.live,was=live.dataset.state;let done=false,timer;
const see=s=>{if(!done&&s!==was){done=true;clearInterval(timer);location.replace(path)}};
const poll=()=>{if(!timer)timer=setInterval(()=>fetch(path+'/status',{headers:{accept:'application/json'}}).then(r=>r.json()).then(b=>see(b.state||'expired'),()=>{}),2000)};
if(window.EventSource){const es=new EventSource(path+'/events');es.addEventListener('state',e=>{const s=JSON.parse(e.data).state;if(s!==was)es.close();see(s)});es.onerror=()=>{if(es.readyState===2)poll()}}else poll();
const renew=()=>{if(!d.hidden&&!done&&d.querySelector('.qr'))fetch(path,{headers:{accept:'text/html'}}).then(r=>r.text()).then(t=>{const n=new DOMParser().parseFromString(t.slice(t.indexOf('<main')),'text/html'),[code,link,own,wait]=['.qr','#open-app','#in-browser','#wait'].map(s=>[d.querySelector(s),n.querySelector(s)]);
if(code[1]){code[0].replaceWith(code[1]);if(link[0]&&link[1])link[0].href=link[1].href;if(own[0]&&own[1])own[0].href=own[1].href}else if(wait[1])wait[0].replaceWith(wait[1])},()=>{})};
setInterval(renew,20000);d.addEventListener('visibilitychange',renew)}
})();`;
