<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>AboutWindow</name>
    <message>
        <source>About meshdesk</source>
        <translation>Über meshdesk</translation>
    </message>
    <message>
        <source>The mark of meshdesk</source>
        <translation>Das Zeichen von meshdesk</translation>
    </message>
    <message>
        <source>Lends this computer to a mesh that runs large language models, and shows every token&apos;s hop.</source>
        <translation>Leiht diesen Computer einem Mesh, das große Sprachmodelle rechnet, und zeigt den Weg jedes Tokens.</translation>
    </message>
    <message>
        <source>Version {version} · Python {python} · Qt {qt}</source>
        <translation>Version {version} · Python {python} · Qt {qt}</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0. Qt is used under the LGPL, version 3.</source>
        <translation>Freie Software unter der Apache-Lizenz 2.0. Qt wird unter der LGPL, Version 3, benutzt.</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>S&amp;chließen</translation>
    </message>
</context>
<context>
    <name>Amounts</name>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>{amount} {unit}/s</source>
        <translation>{amount} {unit}/s</translation>
    </message>
    <message>
        <source>{amount} ms</source>
        <translation>{amount} ms</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes} min {seconds} s</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>less than a minute</source>
        <translation>weniger als eine Minute</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} h {minutes} min</translation>
    </message>
    <message>
        <source>{hours} h</source>
        <translation>{hours} h</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days} d {hours} h</translation>
    </message>
    <message>
        <source>{days} d</source>
        <translation>{days} d</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <source>{duration} ago</source>
        <translation>vor {duration}</translation>
    </message>
</context>
<context>
    <name>AnswerFigures</name>
    <message>
        <source>{rate} tokens/s</source>
        <translation>{rate} Token/s</translation>
    </message>
    <message>
        <source>slowest hop: layers {layers} at the first node, {time}</source>
        <translation>langsamster Hop: Schichten {layers} im ersten Knoten, {time}</translation>
    </message>
    <message>
        <source>slowest hop: layers {layers} direct, {time}</source>
        <translation>langsamster Hop: Schichten {layers} direkt, {time}</translation>
    </message>
    <message>
        <source>slowest hop: layers {layers} by relay, {time}</source>
        <translation>langsamster Hop: Schichten {layers} über Relay, {time}</translation>
    </message>
    <message>
        <source>slowest hop: layers {layers} direct (relay failed), {time}</source>
        <translation>langsamster Hop: Schichten {layers} direkt (Relay ausgefallen), {time}</translation>
    </message>
</context>
<context>
    <name>AppPage</name>
    <message>
        <source>Almost there</source>
        <translation>Fast fertig</translation>
    </message>
    <message>
        <source>Display name</source>
        <translation>Anzeigename</translation>
    </message>
    <message>
        <source>Nobody in particular</source>
        <translation>Niemand Bestimmtes</translation>
    </message>
    <message>
        <source>Start meshdesk, in the tray, when I log in</source>
        <translation>meshdesk bei der Anmeldung starten, im Infobereich</translation>
    </message>
    <message>
        <source>What others in the mesh see. Empty: a part of this computer&apos;s random id.</source>
        <translation>Was andere im Mesh sehen. Leer: ein Teil der zufälligen Kennung dieses Computers.</translation>
    </message>
    <message>
        <source>Both can be changed in the settings at any time.</source>
        <translation>Beides lässt sich jederzeit in den Einstellungen ändern.</translation>
    </message>
</context>
<context>
    <name>Asking</name>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>cut at the longest an answer may be</source>
        <translation>an der größten Länge abgeschnitten</translation>
    </message>
</context>
<context>
    <name>Autostart</name>
    <message>
        <source>It is not known whether meshdesk starts with the computer ({reason}).</source>
        <translation>Ob meshdesk mit dem Computer startet, ist nicht bekannt ({reason}).</translation>
    </message>
    <message>
        <source>The system did not take the change ({reason}).</source>
        <translation>Das System hat die Änderung nicht angenommen ({reason}).</translation>
    </message>
    <message>
        <source>Use your system&apos;s own settings for starting apps.</source>
        <translation>Nimm dafür die Autostart-Einstellungen deines Systems.</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Open settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>Open the log</source>
        <translation>Protokoll öffnen</translation>
    </message>
    <message>
        <source>A setting of yours has paused this computer</source>
        <translation>Eine deiner Einstellungen hat diesen Computer pausiert</translation>
    </message>
    <message>
        <source>It goes on by itself when the reason has passed.</source>
        <translation>Es geht von selbst weiter, sobald der Grund vorbei ist.</translation>
    </message>
    <message>
        <source>Change the setting</source>
        <translation>Einstellung ändern</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>the relay</source>
        <translation>das Relay</translation>
    </message>
    <message>
        <source>the tracker</source>
        <translation>den Tracker</translation>
    </message>
    <message>
        <source>Lost {what} {time}</source>
        <translation>{what} verloren, {time}</translation>
    </message>
    <message>
        <source>Not connected yet</source>
        <translation>Noch nicht verbunden</translation>
    </message>
    <message>
        <source>meshdesk keeps trying; there is nothing you need to do.</source>
        <translation>meshdesk versucht es weiter; du musst nichts tun.</translation>
    </message>
</context>
<context>
    <name>Chart</name>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>{seconds} s ago</source>
        <translation>vor {seconds} s</translation>
    </message>
</context>
<context>
    <name>ChatFailures</name>
    <message>
        <source>The chat failed in a way nobody foresaw. See the log.</source>
        <translation>Der Chat ist unerwartet gescheitert. Das Protokoll sagt mehr.</translation>
    </message>
    <message>
        <source>The mesh cannot be reached, for its tracker does not answer. Check your network.</source>
        <translation>Das Mesh ist nicht erreichbar, denn sein Tracker antwortet nicht. Prüfe dein Netzwerk.</translation>
    </message>
    <message>
        <source>This chat has grown too long for the model. A new one has room again.</source>
        <translation>Dieser Chat ist für das Modell zu lang geworden. Ein neuer hat wieder Platz.</translation>
    </message>
    <message>
        <source>The mesh is busy with other chats. Try again in a moment.</source>
        <translation>Das Mesh ist mit anderen Chats beschäftigt. Versuche es gleich noch einmal.</translation>
    </message>
    <message>
        <source>The mesh has no complete chain of nodes yet. Try again when another one has joined.</source>
        <translation>Das Mesh hat noch keine vollständige Kette von Knoten. Versuche es wieder, wenn einer dazugekommen ist.</translation>
    </message>
    <message>
        <source>The mesh has no node for layers {layers} yet. Try again when one has joined.</source>
        <translation>Das Mesh hat noch keinen Knoten für die Schichten {layers}. Versuche es wieder, wenn einer dazugekommen ist.</translation>
    </message>
</context>
<context>
    <name>ChatNotice</name>
    <message>
        <source>The mesh is starting. You can chat as soon as it is there.</source>
        <translation>Das Mesh startet. Du kannst chatten, sobald es da ist.</translation>
    </message>
    <message>
        <source>Show progress</source>
        <translation>Fortschritt zeigen</translation>
    </message>
    <message>
        <source>This computer is just leaving the mesh.</source>
        <translation>Dieser Computer verlässt gerade das Mesh.</translation>
    </message>
    <message>
        <source>This computer could not join the mesh, so there is nobody to chat with.</source>
        <translation>Dieser Computer konnte dem Mesh nicht beitreten, darum ist niemand zum Chatten da.</translation>
    </message>
    <message>
        <source>Show why</source>
        <translation>Grund zeigen</translation>
    </message>
    <message>
        <source>This computer is paused, and its practice mesh with it.</source>
        <translation>Dieser Computer ist pausiert, und sein Übungs-Mesh mit ihm.</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>You are in no mesh yet. Join one, and chat with it here.</source>
        <translation>Du bist in keinem Mesh. Tritt einem bei, dann kannst du hier mit ihm chatten.</translation>
    </message>
    <message>
        <source>Join mesh</source>
        <translation>Mesh beitreten</translation>
    </message>
</context>
<context>
    <name>ChatWindow</name>
    <message>
        <source>Try a chat</source>
        <translation>Chat ausprobieren</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Forget this chat and begin a new one (Ctrl+N)</source>
        <translation>Diesen Chat vergessen und einen neuen beginnen (Strg+N)</translation>
    </message>
    <message>
        <source>The answer is complete.</source>
        <translation>Die Antwort ist vollständig.</translation>
    </message>
    <message>
        <source>Your words travel through other people&apos;s computers, so keep secrets out. Enter sends, Shift+Enter makes a new line.</source>
        <translation>Deine Worte gehen durch die Computer anderer Leute, also behalte Geheimnisse für dich. Enter sendet, Umschalt+Enter beginnt eine neue Zeile.</translation>
    </message>
</context>
<context>
    <name>Checks</name>
    <message>
        <source>a check failed: {reason}</source>
        <translation>eine Prüfung ist gescheitert: {reason}</translation>
    </message>
    <message>
        <source>doctor</source>
        <translation>Prüfung</translation>
    </message>
    <message>
        <source>meshdesk needs Python 3.11 or later.</source>
        <translation>meshdesk braucht Python 3.11 oder neuer.</translation>
    </message>
    <message>
        <source>Install meshdesk again.</source>
        <translation>Installiere meshdesk neu.</translation>
    </message>
    <message>
        <source>packages</source>
        <translation>Pakete</translation>
    </message>
    <message>
        <source>engine</source>
        <translation>Rechenwerk</translation>
    </message>
    <message>
        <source>PySide6 {version} ends programs without a word on this Python</source>
        <translation>PySide6 {version} beendet Programme mit diesem Python ohne ein Wort</translation>
    </message>
    <message>
        <source>did not load within {seconds} s</source>
        <translation>lud nicht innerhalb von {seconds} s</translation>
    </message>
    <message>
        <source>Look at the disk and the memory.</source>
        <translation>Sieh nach Festplatte und Speicher.</translation>
    </message>
    <message>
        <source>does not load: {reason}</source>
        <translation>lädt nicht: {reason}</translation>
    </message>
    <message>
        <source>{version}, {threads} threads</source>
        <translation>{version}, {threads} Threads</translation>
    </message>
    <message>
        <source>model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>will be prepared in {path} at its first use, in half a minute</source>
        <translation>wird beim ersten Gebrauch in {path} vorbereitet, in einer halben Minute</translation>
    </message>
    <message>
        <source>the wheel {wheel} is not installed; the Hub will be asked</source>
        <translation>das Paket {wheel} ist nicht installiert; der Hub wird gefragt</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>{free} of {total} GB free</source>
        <translation>{free} von {total} GB frei</translation>
    </message>
    <message>
        <source>Too little for a node with half of the bundled model: close programs.</source>
        <translation>Zu wenig für einen Knoten mit der Hälfte des mitgelieferten Modells: schließe Programme.</translation>
    </message>
    <message>
        <source>Enough for some layers of the bundled model, not all.</source>
        <translation>Genug für einige Schichten des mitgelieferten Modells, nicht für alle.</translation>
    </message>
    <message>
        <source>disk</source>
        <translation>Festplatte</translation>
    </message>
    <message>
        <source>{free} GB free for {path}</source>
        <translation>{free} GB frei für {path}</translation>
    </message>
    <message>
        <source>{path} cannot be written to</source>
        <translation>{path} ist nicht beschreibbar</translation>
    </message>
    <message>
        <source>Set {variable}.</source>
        <translation>Setze {variable}.</translation>
    </message>
    <message>
        <source>Make room, or set {variable}.</source>
        <translation>Schaffe Platz, oder setze {variable}.</translation>
    </message>
    <message>
        <source>graphics</source>
        <translation>Grafik</translation>
    </message>
    <message>
        <source>no card found; the processor computes</source>
        <translation>keine Karte gefunden; der Prozessor rechnet</translation>
    </message>
    <message>
        <source>{cards}; not used by this version, the processor computes</source>
        <translation>{cards}; wird von dieser Version nicht benutzt, der Prozessor rechnet</translation>
    </message>
    <message>
        <source>not installed: {names}</source>
        <translation>nicht installiert: {names}</translation>
    </message>
    <message>
        <source>Run: {command}</source>
        <translation>Führe aus: {command}</translation>
    </message>
    <message>
        <source>tracker</source>
        <translation>Tracker</translation>
    </message>
    <message>
        <source>relay</source>
        <translation>Relay</translation>
    </message>
    <message>
        <source>clock</source>
        <translation>Uhr</translation>
    </message>
    <message>
        <source>Check the address, and that it runs.</source>
        <translation>Prüfe die Adresse, und ob er läuft.</translation>
    </message>
    <message>
        <source>A firewall or a virus scanner stops WebSockets; let {host} through.</source>
        <translation>Eine Firewall oder ein Virenscanner hält WebSockets auf; lass {host} durch.</translation>
    </message>
    <message>
        <source>agrees with the tracker&apos;s</source>
        <translation>stimmt mit der des Trackers überein</translation>
    </message>
    <message>
        <source>{seconds} s ahead of the tracker&apos;s</source>
        <translation>geht {seconds} s vor gegenüber dem Tracker</translation>
    </message>
    <message>
        <source>{seconds} s behind the tracker&apos;s</source>
        <translation>geht {seconds} s nach gegenüber dem Tracker</translation>
    </message>
    <message>
        <source>Let the system set its time by itself.</source>
        <translation>Lass das System seine Uhr selbst stellen.</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>no address beyond this computer</source>
        <translation>keine Adresse außerhalb dieses Computers</translation>
    </message>
    <message>
        <source>Connect this computer to a network, unless it is to practise alone.</source>
        <translation>Verbinde diesen Computer mit einem Netzwerk, außer er soll allein üben.</translation>
    </message>
    <message>
        <source>WSL1, which shares the network of Windows</source>
        <translation>WSL1, das sich das Netzwerk von Windows teilt</translation>
    </message>
    <message>
        <source>WSL2 in NAT mode: others reach it through the relay only</source>
        <translation>WSL2 im NAT-Modus: andere erreichen es nur über das Relay</translation>
    </message>
    <message>
        <source>WSL2 in mirrored mode, behind the Hyper-V firewall</source>
        <translation>WSL2 im gespiegelten Modus, hinter der Hyper-V-Firewall</translation>
    </message>
    <message>
        <source>WSL2, in a network mode that is not known</source>
        <translation>WSL2, in einem unbekannten Netzwerkmodus</translation>
    </message>
    <message>
        <source>proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
    <message>
        <source>Only models are fetched through it. Tracker and relay must be reachable without it.</source>
        <translation>Nur Modelle werden darüber geholt. Tracker und Relay müssen ohne ihn erreichbar sein.</translation>
    </message>
    <message>
        <source>port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>any free one</source>
        <translation>irgendein freier</translation>
    </message>
    <message>
        <source>{port}, this meshdesk listens there</source>
        <translation>{port}, dort lauscht dieses meshdesk</translation>
    </message>
    <message>
        <source>{port} is free</source>
        <translation>{port} ist frei</translation>
    </message>
    <message>
        <source>{port} is not allowed to this user</source>
        <translation>{port} ist diesem Benutzer nicht erlaubt</translation>
    </message>
    <message>
        <source>Choose one above 1024.</source>
        <translation>Wähle einen über 1024.</translation>
    </message>
    <message>
        <source>{port}, a meshdesk node of this computer listens there</source>
        <translation>{port}, dort lauscht ein meshdesk-Knoten dieses Computers</translation>
    </message>
    <message>
        <source>{port} is in use by another program</source>
        <translation>{port} wird von einem anderen Programm benutzt</translation>
    </message>
    <message>
        <source>Choose another, or 0 for any free one.</source>
        <translation>Wähle einen anderen, oder 0 für irgendeinen freien.</translation>
    </message>
    <message>
        <source>direct hops</source>
        <translation>direkte Hops</translation>
    </message>
    <message>
        <source>There is no relay, and peers can hardly dial this computer directly.</source>
        <translation>Es gibt kein Relay, und andere können diesen Computer kaum direkt anwählen.</translation>
    </message>
    <message>
        <source>{url} answers in {ms} ms</source>
        <translation>{url} antwortet in {ms} ms</translation>
    </message>
    <message>
        <source>{url} answers with status {status}</source>
        <translation>{url} antwortet mit Status {status}</translation>
    </message>
    <message>
        <source>{url} did not answer within {seconds} s</source>
        <translation>{url} hat innerhalb von {seconds} s nicht geantwortet</translation>
    </message>
    <message>
        <source>{url} does not answer: its name is not known</source>
        <translation>{url} antwortet nicht: sein Name ist unbekannt</translation>
    </message>
    <message>
        <source>{url} does not answer: its certificate is not trusted ({reason})</source>
        <translation>{url} antwortet nicht: seinem Zertifikat wird nicht vertraut ({reason})</translation>
    </message>
    <message>
        <source>{url} does not answer: {reason}</source>
        <translation>{url} antwortet nicht: {reason}</translation>
    </message>
    <message>
        <source>{url} does not answer as it should: {reason}</source>
        <translation>{url} antwortet nicht, wie es soll: {reason}</translation>
    </message>
    <message>
        <source>{url} opens no WebSocket within {seconds} s</source>
        <translation>{url} öffnet innerhalb von {seconds} s keinen WebSocket</translation>
    </message>
    <message>
        <source>{url} opens no WebSocket: status {status}</source>
        <translation>{url} öffnet keinen WebSocket: Status {status}</translation>
    </message>
    <message>
        <source>{url} opens no WebSocket: {reason}</source>
        <translation>{url} öffnet keinen WebSocket: {reason}</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Your question</source>
        <translation>Deine Frage</translation>
    </message>
    <message>
        <source>Ask the mesh something</source>
        <translation>Frag das Mesh etwas</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Stop the answer (Esc)</source>
        <translation>Antwort anhalten (Esc)</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <translation>Senden (Enter)</translation>
    </message>
</context>
<context>
    <name>Connection</name>
    <message>
        <source>Peers can dial this computer directly, at {endpoint}.</source>
        <translation>Andere können diesen Computer direkt anwählen, unter {endpoint}.</translation>
    </message>
    <message>
        <source>Direct hops are switched off. Peers reach you through the relay: slower, but working.</source>
        <translation>Direkte Hops sind abgeschaltet. Andere erreichen dich über das Relay: langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>To let peers dial you, switch on direct hops in Settings.</source>
        <translation>Damit andere dich anwählen können, schalte in den Einstellungen direkte Hops ein.</translation>
    </message>
    <message>
        <source>This mesh is on this computer alone, so nobody else needs to reach it.</source>
        <translation>Dieses Mesh ist nur auf diesem Computer, also muss dich sonst niemand erreichen.</translation>
    </message>
    <message>
        <source>meshdesk runs in WSL2 in NAT mode, whose address means nothing outside this computer. Peers reach you through the relay; that is normal, slower but working.</source>
        <translation>meshdesk läuft in WSL2 im NAT-Modus, dessen Adresse außerhalb dieses Computers nichts bedeutet. Andere erreichen dich über das Relay; das ist normal, langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>To be dialled directly, write networkingMode=mirrored under [wsl2] in .wslconfig, run wsl --shutdown, and allow meshdesk&apos;s port in the Hyper-V firewall.</source>
        <translation>Um direkt angewählt zu werden, schreib networkingMode=mirrored unter [wsl2] in .wslconfig, führe wsl --shutdown aus, und erlaube den Port von meshdesk in der Hyper-V-Firewall.</translation>
    </message>
    <message>
        <source>Your provider shares one address among many customers (CGNAT), so nobody can dial yours. Peers reach you through the relay; that is normal, slower but working.</source>
        <translation>Dein Anbieter teilt eine Adresse unter vielen Kunden (CGNAT), also kann niemand deine anwählen. Andere erreichen dich über das Relay; das ist normal, langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>Only your provider can change that: ask for a public IPv4 address, or for IPv6.</source>
        <translation>Das kann nur dein Anbieter ändern: frag nach einer öffentlichen IPv4-Adresse, oder nach IPv6.</translation>
    </message>
    <message>
        <source>This computer has a home network&apos;s address, behind a router. Peers elsewhere reach you through the relay; that is normal, slower but working.</source>
        <translation>Dieser Computer hat eine Heimnetz-Adresse, hinter einem Router. Andere erreichen dich über das Relay; das ist normal, langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>To be dialled directly, set a fixed port in Settings, and forward it to this computer in your router. Anybody can then try that port.</source>
        <translation>Um direkt angewählt zu werden, setze in den Einstellungen einen festen Port, und leite ihn in deinem Router an diesen Computer weiter. Dann kann jeder diesen Port probieren.</translation>
    </message>
    <message>
        <source>This computer has no address that others could dial. Peers reach you through the relay; that is normal, slower but working.</source>
        <translation>Dieser Computer hat keine Adresse, die andere anwählen könnten. Andere erreichen dich über das Relay; das ist normal, langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>If it should have one, look at its network connection.</source>
        <translation>Wenn er eine haben sollte, sieh nach seiner Netzwerkverbindung.</translation>
    </message>
    <message>
        <source>Nobody has tried yet whether peers can dial this computer directly.</source>
        <translation>Noch hat niemand versucht, ob andere diesen Computer direkt anwählen können.</translation>
    </message>
    <message>
        <source>The mesh tries it soon after you join.</source>
        <translation>Das Mesh versucht es bald nach dem Beitritt.</translation>
    </message>
    <message>
        <source>WSL2 is in mirrored mode, and the Hyper-V firewall lets nobody in at {endpoint}. Peers reach you through the relay; that is normal, slower but working.</source>
        <translation>WSL2 ist im gespiegelten Modus, und die Hyper-V-Firewall lässt unter {endpoint} niemanden herein. Andere erreichen dich über das Relay; das ist normal, langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>To be dialled directly, set a fixed port in Settings, and allow that one in the Hyper-V firewall.</source>
        <translation>Um direkt angewählt zu werden, setze in den Einstellungen einen festen Port, und erlaube diesen in der Hyper-V-Firewall.</translation>
    </message>
    <message>
        <source>The tracker dialled {endpoint} and did not get through ({reason}). Peers reach you through the relay; that is normal, slower but working.</source>
        <translation>Der Tracker hat {endpoint} angewählt und kam nicht durch ({reason}). Andere erreichen dich über das Relay; das ist normal, langsamer, aber es geht.</translation>
    </message>
    <message>
        <source>To be dialled directly, allow meshdesk&apos;s port in this computer&apos;s firewall, and forward it in the router if there is one. Anybody can then try that port.</source>
        <translation>Um direkt angewählt zu werden, erlaube den Port von meshdesk in der Firewall dieses Computers, und leite ihn im Router weiter, wenn es einen gibt. Dann kann jeder diesen Port probieren.</translation>
    </message>
    <message>
        <source>no answer</source>
        <translation>keine Antwort</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>abgewiesen</translation>
    </message>
    <message>
        <source>no way there</source>
        <translation>kein Weg dorthin</translation>
    </message>
    <message>
        <source>somebody else answered</source>
        <translation>jemand anders hat geantwortet</translation>
    </message>
</context>
<context>
    <name>ConnectionCard</name>
    <message>
        <source>Connection</source>
        <translation>Verbindung</translation>
    </message>
    <message>
        <source>Relay</source>
        <translation>Relay</translation>
    </message>
    <message>
        <source>Tracker</source>
        <translation>Tracker</translation>
    </message>
    <message>
        <source>Direct</source>
        <translation>Direkt</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>Warum?</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Check my connection</source>
        <translation>Meine Verbindung prüfen</translation>
    </message>
    <message>
        <source>A relay passes data on between computers that cannot dial each other. It is slower than a direct way, and works behind every router.</source>
        <translation>Ein Relay reicht Daten zwischen Computern weiter, die einander nicht anwählen können. Es ist langsamer als ein direkter Weg, und geht hinter jedem Router.</translation>
    </message>
    <message>
        <source>on this computer only</source>
        <translation>nur auf diesem Computer</translation>
    </message>
    <message>
        <source>reachable</source>
        <translation>erreichbar</translation>
    </message>
    <message>
        <source>switched off</source>
        <translation>abgeschaltet</translation>
    </message>
    <message>
        <source>WSL2 NAT</source>
        <translation>WSL2-NAT</translation>
    </message>
    <message>
        <source>shared address (CGNAT)</source>
        <translation>geteilte Adresse (CGNAT)</translation>
    </message>
    <message>
        <source>private address</source>
        <translation>private Adresse</translation>
    </message>
    <message>
        <source>no public address</source>
        <translation>keine öffentliche Adresse</translation>
    </message>
    <message>
        <source>firewall</source>
        <translation>Firewall</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>noch nicht bekannt</translation>
    </message>
    <message>
        <source>not reachable</source>
        <translation>nicht erreichbar</translation>
    </message>
    <message>
        <source>for {time}</source>
        <translation>seit {time}</translation>
    </message>
    <message>
        <source>lost {time}</source>
        <translation>verloren {time}</translation>
    </message>
    <message>
        <source>connecting</source>
        <translation>verbindet</translation>
    </message>
</context>
<context>
    <name>ConnectionWindow</name>
    <message>
        <source>Check my connection</source>
        <translation>Meine Verbindung prüfen</translation>
    </message>
    <message>
        <source>&amp;Copy as text</source>
        <translation>Als Text &amp;kopieren</translation>
    </message>
    <message>
        <source>Check &amp;again</source>
        <translation>&amp;Noch einmal prüfen</translation>
    </message>
    <message>
        <source>The check itself failed</source>
        <translation>Die Prüfung selbst ist gescheitert</translation>
    </message>
    <message>
        <source>The log says why.</source>
        <translation>Das Protokoll sagt, warum.</translation>
    </message>
    <message>
        <source>This computer does not reach its mesh</source>
        <translation>Dieser Computer erreicht sein Mesh nicht</translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) need your attention</source>
        <translation>
            <numerusform>Eine Sache braucht dich</numerusform>
            <numerusform>%n Sachen brauchen dich</numerusform>
        </translation>
    </message>
    <message>
        <source>Looking at your connection …</source>
        <translation>Sieht nach deiner Verbindung …</translation>
    </message>
    <message>
        <source>Your connection works</source>
        <translation>Deine Verbindung geht</translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) done, more to come</source>
        <translation>
            <numerusform>Eine Prüfung fertig, es kommen mehr</numerusform>
            <numerusform>%n Prüfungen fertig, es kommen mehr</numerusform>
        </translation>
    </message>
    <message>
        <source>Checked at {time}</source>
        <translation>Geprüft um {time}</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>Befunde</translation>
    </message>
</context>
<context>
    <name>DashboardWindow</name>
    <message>
        <source>Route, hops and cards</source>
        <translation>Weg, Hops und Karten</translation>
    </message>
    <message>
        <source>Try a c&amp;hat</source>
        <translation>C&amp;hat ausprobieren</translation>
    </message>
    <message>
        <source>Lo&amp;gs</source>
        <translation>Pr&amp;otokoll</translation>
    </message>
    <message>
        <source>&amp;Settings</source>
        <translation>&amp;Einstellungen</translation>
    </message>
    <message>
        <source>Check my co&amp;nnection</source>
        <translation>&amp;Verbindung prüfen</translation>
    </message>
    <message>
        <source>&amp;Diagnostics</source>
        <translation>&amp;Diagnose</translation>
    </message>
    <message>
        <source>&amp;About</source>
        <translation>&amp;Über</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
</context>
<context>
    <name>DiagnosticsWindow</name>
    <message>
        <source>Export diagnostics</source>
        <translation>Diagnose exportieren</translation>
    </message>
    <message>
        <source>Texts in the file</source>
        <translation>Texte in der Datei</translation>
    </message>
    <message>
        <source>&amp;Refresh</source>
        <translation>&amp;Aktualisieren</translation>
    </message>
    <message>
        <source>&amp;Copy this text</source>
        <translation>Diesen Text &amp;kopieren</translation>
    </message>
    <message>
        <source>&amp;Save…</source>
        <translation>&amp;Speichern…</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>Diagnose speichern</translation>
    </message>
    <message>
        <source>Zip files (*.zip)</source>
        <translation>Zip-Dateien (*.zip)</translation>
    </message>
    <message>
        <source>This is all that will be in the file</source>
        <translation>Das ist alles, was in der Datei sein wird</translation>
    </message>
    <message>
        <source>Passwords, tokens and this computer&apos;s identity are taken out. Nothing is sent anywhere: you save the file, and decide whom you give it to.</source>
        <translation>Passwörter, Token und die Kennung dieses Computers sind herausgenommen. Nichts wird irgendwohin gesendet: du speicherst die Datei und entscheidest, wem du sie gibst.</translation>
    </message>
    <message>
        <source>This did not work: {reason}. The log says more.</source>
        <translation>Das ging nicht: {reason}. Das Protokoll sagt mehr.</translation>
    </message>
    <message>
        <source>Not saved yet.</source>
        <translation>Noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>Putting it together…</source>
        <translation>Wird zusammengestellt…</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Saved as {path}</source>
        <translation>Gespeichert als {path}</translation>
    </message>
    <message>
        <source>It could not be saved: {reason}</source>
        <translation>Es konnte nicht gespeichert werden: {reason}</translation>
    </message>
</context>
<context>
    <name>EmptyChat</name>
    <message>
        <source>What is the capital of France?</source>
        <translation>Was ist die Hauptstadt von Frankreich?</translation>
    </message>
    <message>
        <source>Explain in two sentences why the sky is blue.</source>
        <translation>Erkläre in zwei Sätzen, warum der Himmel blau ist.</translation>
    </message>
    <message>
        <source>Write a short poem about the sea.</source>
        <translation>Schreib ein kurzes Gedicht über das Meer.</translation>
    </message>
    <message>
        <source>Ask the mesh</source>
        <translation>Frag das Mesh</translation>
    </message>
    <message>
        <source>The answer comes token by token, through the computers of everybody in it.</source>
        <translation>Die Antwort kommt Token für Token, durch die Computer aller, die dabei sind.</translation>
    </message>
    <message>
        <source>Nobody to chat with yet</source>
        <translation>Noch niemand zum Chatten da</translation>
    </message>
</context>
<context>
    <name>FailureCard</name>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Copy details</source>
        <translation>Einzelheiten kopieren</translation>
    </message>
</context>
<context>
    <name>FaultNotice</name>
    <message>
        <source>meshdesk met a fault</source>
        <translation>meshdesk hatte einen Fehler</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Was geschah</translation>
    </message>
    <message>
        <source>&amp;Copy details</source>
        <translation>Einzelheiten &amp;kopieren</translation>
    </message>
    <message>
        <source>&amp;Export diagnostics…</source>
        <translation>Diagnose &amp;exportieren…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message numerus="yes">
        <source>%n fault(s) in all.</source>
        <translation>
            <numerusform>Ein Fehler im Ganzen.</numerusform>
            <numerusform>%n Fehler im Ganzen.</numerusform>
        </translation>
    </message>
    <message>
        <source>It goes on as well as it can. All of it is in the log; nothing was sent anywhere.</source>
        <translation>Es geht so gut weiter, wie es kann. Alles steht im Protokoll; nichts wurde irgendwohin gesendet.</translation>
    </message>
</context>
<context>
    <name>FindingRow</name>
    <message>
        <source>What to do: {advice}</source>
        <translation>Was zu tun ist: {advice}</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>Gut</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Problem</translation>
    </message>
</context>
<context>
    <name>FirstRunWindow</name>
    <message>
        <source>Welcome to meshdesk</source>
        <translation>Willkommen bei meshdesk</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Join mesh</source>
        <translation>Mesh beitreten</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
</context>
<context>
    <name>GivenCard</name>
    <message>
        <source>Given</source>
        <translation>Gegeben</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>In all</source>
        <translation>Insgesamt</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} Token</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>How much to lend</source>
        <translation>Wie viel du leihst</translation>
    </message>
    <message>
        <source>Looking at this computer…</source>
        <translation>Sieht sich diesen Computer an…</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>Speichergrenze</translation>
    </message>
    <message>
        <source>Memory limit in megabytes</source>
        <translation>Speichergrenze in Megabyte</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source> MB</source>
        <translation> MB</translation>
    </message>
    <message>
        <source>Fewer leave this computer quicker for you.</source>
        <translation>Weniger lassen diesen Computer für dich schneller.</translation>
    </message>
    <message>
        <source>This computer could not be looked at. You can go on; half of the free memory is lent then.</source>
        <translation>Dieser Computer ließ sich nicht ansehen. Du kannst weitermachen; dann wird die Hälfte des freien Speichers verliehen.</translation>
    </message>
    <message>
        <source>That leaves very little for other programs.</source>
        <translation>Das lässt sehr wenig für andere Programme.</translation>
    </message>
    <message>
        <source>Leaves {amount} for everything else.</source>
        <translation>Lässt {amount} für alles andere.</translation>
    </message>
    <message>
        <source>Memory: {free} of {total} free.</source>
        <translation>Speicher: {free} von {total} frei.</translation>
    </message>
    <message numerus="yes">
        <source>Processor: %n core(s).</source>
        <translation>
            <numerusform>Prozessor: ein Kern.</numerusform>
            <numerusform>Prozessor: %n Kerne.</numerusform>
        </translation>
    </message>
    <message>
        <source>Processor: {name}, {cores} cores.</source>
        <translation>Prozessor: {name}, {cores} Kerne.</translation>
    </message>
    <message>
        <source>Graphics: {cards}, not used by this version.</source>
        <translation>Grafik: {cards}, wird von dieser Version nicht benutzt.</translation>
    </message>
    <message>
        <source>Graphics: no card found; the processor computes.</source>
        <translation>Grafik: keine Karte gefunden; der Prozessor rechnet.</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Pause</translation>
    </message>
    <message>
        <source>This computer is not in the mesh.</source>
        <translation>Dieser Computer ist nicht im Mesh.</translation>
    </message>
    <message>
        <source>State: {state}</source>
        <translation>Zustand: {state}</translation>
    </message>
    <message>
        <source>&amp;Join mesh</source>
        <translation>&amp;Mesh beitreten</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Noch einmal versuchen</translation>
    </message>
    <message>
        <source>&amp;Resume</source>
        <translation>&amp;Fortsetzen</translation>
    </message>
    <message>
        <source>&amp;Leave now</source>
        <translation>&amp;Jetzt verlassen</translation>
    </message>
    <message>
        <source>&amp;Leave mesh</source>
        <translation>Mesh ver&amp;lassen</translation>
    </message>
    <message>
        <source>For &amp;15 minutes</source>
        <translation>Für &amp;15 Minuten</translation>
    </message>
    <message>
        <source>For 1 &amp;hour</source>
        <translation>Für 1 &amp;Stunde</translation>
    </message>
    <message>
        <source>&amp;Until I resume</source>
        <translation>&amp;Bis ich fortsetze</translation>
    </message>
</context>
<context>
    <name>HopTable</name>
    <message>
        <source>Hops of the last tokens</source>
        <translation>Hops der letzten Token</translation>
    </message>
    <message>
        <source>Cop&amp;y</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Export CSV…</source>
        <translation>CSV e&amp;xportieren…</translation>
    </message>
    <message>
        <source>Export hops</source>
        <translation>Hops exportieren</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>Kommagetrennte Werte (*.csv)</translation>
    </message>
    <message>
        <source>Written to {file}</source>
        <translation>Geschrieben in {file}</translation>
    </message>
    <message>
        <source>It could not be written: {reason}</source>
        <translation>Konnte nicht geschrieben werden: {reason}</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Way</source>
        <translation>Weg</translation>
    </message>
    <message>
        <source>Total ms</source>
        <translation>Gesamt ms</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>Compute</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Sent</source>
        <translation>Gesendet</translation>
    </message>
    <message>
        <source>Received</source>
        <translation>Empfangen</translation>
    </message>
</context>
<context>
    <name>HopWords</name>
    <message>
        <source>Layers {layers}, {way}</source>
        <translation>Schichten {layers}, {way}</translation>
    </message>
    <message>
        <source>A prompt of {count} tokens, at {time}</source>
        <translation>Ein Prompt von {count} Token, um {time}</translation>
    </message>
    <message>
        <source>Token {number}, at {time}</source>
        <translation>Token {number}, um {time}</translation>
    </message>
    <message>
        <source>{total}: {compute} compute, {queue} queue</source>
        <translation>{total}: {compute} Rechnen, {queue} Warten</translation>
    </message>
    <message>
        <source>{total}: {network} network, {compute} compute, {queue} queue</source>
        <translation>{total}: {network} Netz, {compute} Rechnen, {queue} Warten</translation>
    </message>
    <message>
        <source>{out} out, {back} back</source>
        <translation>{out} hin, {back} zurück</translation>
    </message>
    <message>
        <source>▲ relay lost {time}, direct</source>
        <translation>▲ Relay verloren {time}, direkt</translation>
    </message>
    <message>
        <source>● relay back {time}</source>
        <translation>● Relay zurück {time}</translation>
    </message>
</context>
<context>
    <name>HopsPanel</name>
    <message>
        <source>No hops yet. They appear with the first chat; try one.</source>
        <translation>Noch keine Hops. Sie erscheinen mit dem ersten Chat; probier einen aus.</translation>
    </message>
    <message>
        <source>Every token&apos;s way through the mesh will be drawn here once you have joined.</source>
        <translation>Hier wird der Weg jedes Tokens durch das Mesh gezeichnet, sobald du beigetreten bist.</translation>
    </message>
    <message>
        <source>Try a chat</source>
        <translation>Chat ausprobieren</translation>
    </message>
    <message>
        <source>Join mesh</source>
        <translation>Mesh beitreten</translation>
    </message>
    <message>
        <source>&amp;Chart</source>
        <translation>Diag&amp;ramm</translation>
    </message>
    <message>
        <source>Per-token hop latency</source>
        <translation>Hop-Zeit je Token</translation>
    </message>
    <message>
        <source>last 60 s</source>
        <translation>letzte 60 s</translation>
    </message>
    <message>
        <source>Ta&amp;ble</source>
        <translation>&amp;Tabelle</translation>
    </message>
</context>
<context>
    <name>HubToken</name>
    <message>
        <source>This is not a token.</source>
        <translation>Das ist kein Token.</translation>
    </message>
    <message>
        <source>Copy it whole from huggingface.co/settings/tokens.</source>
        <translation>Kopiere es ganz von huggingface.co/settings/tokens.</translation>
    </message>
    <message>
        <source>This system has no keyring that meshdesk can use.</source>
        <translation>Dieses System hat keinen Schlüsselbund, den meshdesk benutzen kann.</translation>
    </message>
    <message>
        <source>This system&apos;s keyring keeps nothing.</source>
        <translation>Der Schlüsselbund dieses Systems behält nichts.</translation>
    </message>
    <message>
        <source>The keyring is locked.</source>
        <translation>Der Schlüsselbund ist gesperrt.</translation>
    </message>
    <message>
        <source>Unlock it, then try again.</source>
        <translation>Entsperre ihn, dann versuche es noch einmal.</translation>
    </message>
    <message>
        <source>The keyring did not do what it was asked ({reason}).</source>
        <translation>Der Schlüsselbund hat nicht getan, was er sollte ({reason}).</translation>
    </message>
    <message>
        <source>Look at your system&apos;s keyring.</source>
        <translation>Sieh nach dem Schlüsselbund deines Systems.</translation>
    </message>
    <message>
        <source>The token could not be written to {file} ({reason}).</source>
        <translation>Das Token konnte nicht in {file} geschrieben werden ({reason}).</translation>
    </message>
    <message>
        <source>{file} could not be removed ({reason}).</source>
        <translation>{file} konnte nicht entfernt werden ({reason}).</translation>
    </message>
</context>
<context>
    <name>Invite</name>
    <message>
        <source>Paste a tracker&apos;s address like 203.0.113.5:7000, or the whole line of an invite.</source>
        <translation>Füge die Adresse eines Trackers wie 203.0.113.5:7000 ein, oder die ganze Zeile einer Einladung.</translation>
    </message>
    <message>
        <source>Copy its whole line again.</source>
        <translation>Kopiere noch einmal die ganze Zeile.</translation>
    </message>
    <message>
        <source>Ask for a new one.</source>
        <translation>Bitte um eine neue.</translation>
    </message>
    <message>
        <source>This is too long for an invite.</source>
        <translation>Das ist zu lang für eine Einladung.</translation>
    </message>
    <message>
        <source>Nothing is pasted yet.</source>
        <translation>Es ist noch nichts eingefügt.</translation>
    </message>
    <message>
        <source>This is a relay&apos;s address.</source>
        <translation>Das ist die Adresse eines Relays.</translation>
    </message>
    <message>
        <source>Paste the tracker&apos;s address; it begins with http.</source>
        <translation>Füge die Adresse des Trackers ein; sie beginnt mit http.</translation>
    </message>
    <message>
        <source>An address that begins with {scheme}:// is not a mesh&apos;s.</source>
        <translation>Eine Adresse, die mit {scheme}:// beginnt, ist nicht die eines Meshs.</translation>
    </message>
    <message>
        <source>This invite is damaged.</source>
        <translation>Diese Einladung ist beschädigt.</translation>
    </message>
    <message>
        <source>This is a meshdesk link, but not an invite.</source>
        <translation>Das ist ein meshdesk-Link, aber keine Einladung.</translation>
    </message>
    <message>
        <source>This invite says something twice.</source>
        <translation>Diese Einladung sagt etwas zweimal.</translation>
    </message>
    <message>
        <source>This invite names no tracker.</source>
        <translation>Diese Einladung nennt keinen Tracker.</translation>
    </message>
    <message>
        <source>A tracker&apos;s address holds no user name or password.</source>
        <translation>Die Adresse eines Trackers enthält weder Benutzernamen noch Passwort.</translation>
    </message>
    <message>
        <source>The relay in this invite is not an address.</source>
        <translation>Das Relay in dieser Einladung ist keine Adresse.</translation>
    </message>
    <message>
        <source>“{text}” is not an address.</source>
        <translation>„{text}“ ist keine Adresse.</translation>
    </message>
</context>
<context>
    <name>LatencyChart</name>
    <message>
        <source>Per-token hop latency of the last 60 seconds</source>
        <translation>Hop-Zeit je Token der letzten 60 Sekunden</translation>
    </message>
    <message>
        <source>layers {layers} {way}, last {ms}</source>
        <translation>Schichten {layers} {way}, zuletzt {ms}</translation>
    </message>
</context>
<context>
    <name>Layers</name>
    <message>
        <source>the whole model fits</source>
        <translation>das ganze Modell Platz hat</translation>
    </message>
    <message>
        <source>nobody holds layers {layers} yet</source>
        <translation>noch niemand die Schichten {layers} hat</translation>
    </message>
    <message>
        <source>layers {layers} are the rarest in this mesh; others hold them {count} times</source>
        <translation>die Schichten {layers} die seltensten in diesem Mesh sind; andere haben sie {count}-mal</translation>
    </message>
</context>
<context>
    <name>LogDetails</name>
    <message>
        <source>Traceback</source>
        <translation>Traceback</translation>
    </message>
    <message>
        <source>Details of the line</source>
        <translation>Einzelheiten der Zeile</translation>
    </message>
    <message>
        <source>Select a line to see all of it.</source>
        <translation>Wähle eine Zeile, um sie ganz zu sehen.</translation>
    </message>
    <message>
        <source>{moment} · {level} · {logger}</source>
        <translation>{moment} · {level} · {logger}</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message numerus="yes">
        <source>{title}, %n line(s)</source>
        <translation>
            <numerusform>{title}, eine Zeile</numerusform>
            <numerusform>{title}, %n Zeilen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LogModel</name>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Meldung</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) dropped</source>
        <translation>
            <numerusform>Eine Zeile verworfen</numerusform>
            <numerusform>%n Zeilen verworfen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LogToolbar</name>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>All levels</source>
        <translation>Alle Stufen</translation>
    </message>
    <message>
        <source>Info and above</source>
        <translation>Ab Info</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>Errors only</source>
        <translation>Nur Fehler</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>All sources</source>
        <translation>Alle Quellen</translation>
    </message>
    <message>
        <source>App</source>
        <translation>App</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <source>Shard&apos;s process</source>
        <translation>Prozess des Shards</translation>
    </message>
    <message>
        <source>Qt</source>
        <translation>Qt</translation>
    </message>
    <message>
        <source>Faults</source>
        <translation>Programmfehler</translation>
    </message>
    <message>
        <source>Follow the newest line</source>
        <translation>Der neuesten Zeile folgen</translation>
    </message>
    <message>
        <source>Hold the view still</source>
        <translation>Ansicht stillhalten</translation>
    </message>
    <message>
        <source>Copy the selected lines (Ctrl+C)</source>
        <translation>Ausgewählte Zeilen kopieren (Strg+C)</translation>
    </message>
    <message>
        <source>Copy selected</source>
        <translation>Ausgewählte kopieren</translation>
    </message>
    <message>
        <source>Copy all shown</source>
        <translation>Alle gezeigten kopieren</translation>
    </message>
    <message>
        <source>Wrap long lines</source>
        <translation>Lange Zeilen umbrechen</translation>
    </message>
    <message>
        <source>Save shown lines…</source>
        <translation>Gezeigte Zeilen speichern…</translation>
    </message>
    <message>
        <source>Clear view</source>
        <translation>Ansicht leeren</translation>
    </message>
    <message>
        <source>The files keep everything</source>
        <translation>Die Dateien behalten alles</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Export diagnostics…</source>
        <translation>Diagnose exportieren…</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message>
        <source>Log lines</source>
        <translation>Protokollzeilen</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Jump to newest ({count})</source>
        <translation>Zur neuesten springen ({count})</translation>
    </message>
    <message>
        <source>Jump to newest</source>
        <translation>Zur neuesten springen</translation>
    </message>
</context>
<context>
    <name>LogWindow</name>
    <message>
        <source>meshdesk log</source>
        <translation>Protokoll von meshdesk</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Anzahlen</translation>
    </message>
    <message>
        <source>Save the lines shown</source>
        <translation>Gezeigte Zeilen speichern</translation>
    </message>
    <message>
        <source>Text (*.txt *.log)</source>
        <translation>Text (*.txt *.log)</translation>
    </message>
    <message>
        <source>{records} records, {shown} shown, {dropped} dropped</source>
        <translation>{records} Einträge, {shown} gezeigt, {dropped} verworfen</translation>
    </message>
    <message>
        <source>{counts}. Held still, {waiting} waiting.</source>
        <translation>{counts}. Stillgehalten, {waiting} warten.</translation>
    </message>
    <message>
        <source>No line passes the filter.</source>
        <translation>Keine Zeile passt zum Filter.</translation>
    </message>
    <message>
        <source>Nothing here yet. Lines appear as they are logged.</source>
        <translation>Noch nichts hier. Zeilen erscheinen, sobald sie geschrieben werden.</translation>
    </message>
    <message>
        <source>The lines could not be saved: {reason}</source>
        <translation>Die Zeilen konnten nicht gespeichert werden: {reason}</translation>
    </message>
</context>
<context>
    <name>MeshPage</name>
    <message>
        <source>Which mesh?</source>
        <translation>Welches Mesh?</translation>
    </message>
    <message>
        <source>Try on this computer</source>
        <translation>Auf diesem Computer ausprobieren</translation>
    </message>
    <message>
        <source>Join a mesh I was invited to</source>
        <translation>Einem Mesh beitreten, zu dem ich eingeladen bin</translation>
    </message>
    <message>
        <source>Invite or tracker address</source>
        <translation>Einladung oder Tracker-Adresse</translation>
    </message>
    <message>
        <source>Paste an invite, or an address like 203.0.113.5:7000</source>
        <translation>Füge eine Einladung ein, oder eine Adresse wie 203.0.113.5:7000</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Sieht nach…</translation>
    </message>
    <message>
        <source>Go on anyway</source>
        <translation>Trotzdem weiter</translation>
    </message>
    <message>
        <source>Looking for the mesh…</source>
        <translation>Sucht das Mesh…</translation>
    </message>
    <message numerus="yes">
        <source>The mesh answers. It has %n node(s) now.</source>
        <translation>
            <numerusform>Das Mesh antwortet. Es hat jetzt einen Knoten.</numerusform>
            <numerusform>Das Mesh antwortet. Es hat jetzt %n Knoten.</numerusform>
        </translation>
    </message>
    <message>
        <source>No tracker answers at {address}. Check the address, or go on and try later.</source>
        <translation>Unter {address} antwortet kein Tracker. Prüfe die Adresse, oder mach weiter und versuche es später.</translation>
    </message>
    <message>
        <source>“{name}”: tracker {tracker}, relay {relay}</source>
        <translation>„{name}“: Tracker {tracker}, Relay {relay}</translation>
    </message>
    <message>
        <source>“{name}”: tracker {tracker}</source>
        <translation>„{name}“: Tracker {tracker}</translation>
    </message>
    <message>
        <source>Tracker {tracker}, relay {relay}</source>
        <translation>Tracker {tracker}, Relay {relay}</translation>
    </message>
    <message>
        <source>Tracker {tracker}</source>
        <translation>Tracker {tracker}</translation>
    </message>
    <message>
        <source>Starts a small mesh that lives on this computer only, so that you see everything at work.</source>
        <translation>Startet ein kleines Mesh nur auf diesem Computer, damit du alles bei der Arbeit siehst.</translation>
    </message>
</context>
<context>
    <name>ModelChoice</name>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>The mesh&apos;s choice</source>
        <translation>Wahl des Meshs</translation>
    </message>
    <message>
        <source>{model} (not ready)</source>
        <translation>{model} (nicht bereit)</translation>
    </message>
    <message>
        <source>{model} (layers {layers} missing)</source>
        <translation>{model} (Schichten {layers} fehlen)</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>Where the model goes</source>
        <translation>Wohin das Modell kommt</translation>
    </message>
    <message>
        <source>Looking at the folder…</source>
        <translation>Sieht sich den Ordner an…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>Change the folder for models</source>
        <translation>Ordner für Modelle ändern</translation>
    </message>
    <message>
        <source>The layers that this computer serves are kept here, so they are fetched only once.</source>
        <translation>Die Schichten, die dieser Computer rechnet, werden hier aufbewahrt, damit sie nur einmal geholt werden.</translation>
    </message>
    <message>
        <source>Folder for models</source>
        <translation>Ordner für Modelle</translation>
    </message>
    <message>
        <source>Nothing can be written to this folder. Choose another one, or allow it and try again.</source>
        <translation>In diesen Ordner kann nichts geschrieben werden. Wähle einen anderen, oder erlaube es und versuche es noch einmal.</translation>
    </message>
    <message>
        <source>There is too little room here: {needed} are needed, {free} are free.</source>
        <translation>Hier ist zu wenig Platz: {needed} werden gebraucht, {free} sind frei.</translation>
    </message>
    <message>
        <source>How much room there is cannot be told.</source>
        <translation>Wie viel Platz da ist, lässt sich nicht sagen.</translation>
    </message>
    <message>
        <source>This folder cannot be looked at. Choose another one, or try again.</source>
        <translation>Dieser Ordner lässt sich nicht ansehen. Wähle einen anderen, oder versuche es noch einmal.</translation>
    </message>
    <message>
        <source>{free} free. The small model that comes with meshdesk is here already.</source>
        <translation>{free} frei. Das kleine Modell, das mit meshdesk kommt, ist schon hier.</translation>
    </message>
    <message>
        <source>{free} free. The small model that comes with meshdesk takes up to {needed}; others take more.</source>
        <translation>{free} frei. Das kleine Modell, das mit meshdesk kommt, braucht bis zu {needed}; andere mehr.</translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message>
        <source>Others reach this computer directly until it does. There is nothing to do.</source>
        <translation>Andere erreichen diesen Computer direkt, bis es wieder da ist. Es ist nichts zu tun.</translation>
    </message>
    <message>
        <source>The relay does not answer</source>
        <translation>Das Relay antwortet nicht</translation>
    </message>
    <message>
        <source>The connection was lost at {time}. meshdesk keeps trying; nothing else to do.</source>
        <translation>Die Verbindung ging um {time} verloren. meshdesk versucht es weiter; sonst ist nichts zu tun.</translation>
    </message>
    <message>
        <source>meshdesk is still running here</source>
        <translation>meshdesk läuft hier weiter</translation>
    </message>
    <message>
        <source>To end it, choose Quit in the menu of this icon.</source>
        <translation>Zum Beenden wähle Beenden im Menü dieses Symbols.</translation>
    </message>
</context>
<context>
    <name>Plurals</name>
    <message numerus="yes">
        <source>%n chat(s)</source>
        <translation>
            <numerusform>ein Chat</numerusform>
            <numerusform>%n Chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chat(s) now</source>
        <translation>
            <numerusform>Jetzt ein Chat</numerusform>
            <numerusform>Jetzt %n Chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n reconnect(s)</source>
        <translation>
            <numerusform>einmal neu verbunden</numerusform>
            <numerusform>%n-mal neu verbunden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hop(s)</source>
        <translation>
            <numerusform>ein Hop</numerusform>
            <numerusform>%n Hops</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) copied</source>
        <translation>
            <numerusform>Eine Zeile kopiert</numerusform>
            <numerusform>%n Zeilen kopiert</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProgressPanel</name>
    <message>
        <source>Progress of joining</source>
        <translation>Fortschritt des Beitritts</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
</context>
<context>
    <name>RouteStrip</name>
    <message>
        <source>Route of the activations</source>
        <translation>Weg der Aktivierungen</translation>
    </message>
    <message>
        <source>{count} nodes</source>
        <translation>{count} Knoten</translation>
    </message>
    <message>
        <source>chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>you</source>
        <translation>du</translation>
    </message>
    <message>
        <source>{name}, layers {layers}</source>
        <translation>{name}, Schichten {layers}</translation>
    </message>
    <message>
        <source>{way} {host}</source>
        <translation>{way} {host}</translation>
    </message>
    <message>
        <source>then by {way} to {node}</source>
        <translation>dann über {way} zu {node}</translation>
    </message>
    <message>
        <source>then by {way} in {time} to {node}</source>
        <translation>dann über {way} in {time} zu {node}</translation>
    </message>
</context>
<context>
    <name>SeamFigures</name>
    <message>
        <source>Figures of each hop over the last 60 seconds, in ms</source>
        <translation>Zahlen jedes Hops über die letzten 60 Sekunden, in ms</translation>
    </message>
    <message>
        <source>hop</source>
        <translation>Hop</translation>
    </message>
    <message>
        <source>way</source>
        <translation>Weg</translation>
    </message>
    <message>
        <source>last ms</source>
        <translation>zuletzt ms</translation>
    </message>
    <message>
        <source>p50</source>
        <translation>p50</translation>
    </message>
    <message>
        <source>p95</source>
        <translation>p95</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>No tokens in the last 60 seconds</source>
        <translation>Keine Tokens in den letzten 60 Sekunden</translation>
    </message>
    <message>
        <source>layers {layers}</source>
        <translation>Schichten {layers}</translation>
    </message>
    <message>
        <source>layers {layers}, {way}, median {p50}, 95 percent within {p95}</source>
        <translation>Schichten {layers}, {way}, Median {p50}, 95 Prozent innerhalb {p95}</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>Im Protokoll suchen</translation>
    </message>
    <message>
        <source>Lines found</source>
        <translation>Gefundene Zeilen</translation>
    </message>
    <message>
        <source>Regular expression</source>
        <translation>Regulärer Ausdruck</translation>
    </message>
    <message>
        <source>Show only the lines that match</source>
        <translation>Nur passende Zeilen zeigen</translation>
    </message>
    <message>
        <source>Previous match (Shift+F3)</source>
        <translation>Vorige Fundstelle (Umschalt+F3)</translation>
    </message>
    <message>
        <source>Next match (F3)</source>
        <translation>Nächste Fundstelle (F3)</translation>
    </message>
    <message>
        <source>not valid</source>
        <translation>ungültig</translation>
    </message>
    <message>
        <source>{place} of {found}</source>
        <translation>{place} von {found}</translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n gefunden</numerusform>
            <numerusform>%n gefunden</numerusform>
        </translation>
    </message>
    <message>
        <source>Not a valid expression: {problem}</source>
        <translation>Kein gültiger Ausdruck: {problem}</translation>
    </message>
</context>
<context>
    <name>Sentences</name>
    <message>
        <source>Not in the mesh</source>
        <translation>Nicht im Mesh</translation>
    </message>
    <message>
        <source>Getting the model</source>
        <translation>Holt das Modell</translation>
    </message>
    <message>
        <source>Joining the mesh</source>
        <translation>Tritt dem Mesh bei</translation>
    </message>
    <message>
        <source>Leaving once the chats under way are over</source>
        <translation>Verlässt das Mesh, sobald die laufenden Chats zu Ende sind</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pausiert</translation>
    </message>
    <message>
        <source>meshdesk needs your attention</source>
        <translation>meshdesk braucht dich</translation>
    </message>
    <message>
        <source>Join to lend this computer; nothing runs until you do.</source>
        <translation>Tritt bei, um diesen Computer zu verleihen; bis dahin läuft nichts.</translation>
    </message>
    <message>
        <source>Nothing is computed and no memory is used for the mesh.</source>
        <translation>Für das Mesh wird nichts gerechnet und kein Speicher gebraucht.</translation>
    </message>
    <message>
        <source>{speed} tokens/s</source>
        <translation>{speed} Token/s</translation>
    </message>
    <message>
        <source>in the mesh for {time}</source>
        <translation>im Mesh seit {time}</translation>
    </message>
    <message>
        <source>Serving layers {layers} by relay</source>
        <translation>Schichten {layers} über Relay</translation>
    </message>
    <message>
        <source>Serving layers {layers} directly</source>
        <translation>Schichten {layers} direkt</translation>
    </message>
    <message>
        <source>No chats just now</source>
        <translation>Gerade keine Chats</translation>
    </message>
    <message>
        <source>Connecting …</source>
        <translation>Verbindet …</translation>
    </message>
    <message>
        <source>Looking for the model …</source>
        <translation>Sucht das Modell …</translation>
    </message>
    <message>
        <source>Starting a small mesh on this computer …</source>
        <translation>Startet ein kleines Mesh auf diesem Computer …</translation>
    </message>
    <message>
        <source>Getting layers {layers}</source>
        <translation>Holt die Schichten {layers}</translation>
    </message>
    <message>
        <source>Preparing the model, once</source>
        <translation>Bereitet das Modell vor, einmalig</translation>
    </message>
    <message>
        <source>Running the first token …</source>
        <translation>Rechnet das erste Token …</translation>
    </message>
    <message>
        <source>Loading layers {layers}</source>
        <translation>Lädt die Schichten {layers}</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Lädt das Modell</translation>
    </message>
    <message>
        <source>Paused until you resume</source>
        <translation>Pausiert, bis du fortsetzt</translation>
    </message>
    <message>
        <source>Paused until {time}</source>
        <translation>Pausiert bis {time}</translation>
    </message>
    <message>
        <source>Paused to spare the battery (setting “{setting}”)</source>
        <translation>Pausiert, um den Akku zu schonen (Einstellung „{setting}“)</translation>
    </message>
    <message>
        <source>Paused until {time} by your schedule (setting “{setting}”)</source>
        <translation>Pausiert bis {time} nach deinem Zeitplan (Einstellung „{setting}“)</translation>
    </message>
    <message>
        <source>Paused by your schedule (setting “{setting}”)</source>
        <translation>Pausiert nach deinem Zeitplan (Einstellung „{setting}“)</translation>
    </message>
    <message>
        <source>Paused while other programs are busy (setting “{setting}”)</source>
        <translation>Pausiert, solange andere Programme rechnen (Einstellung „{setting}“)</translation>
    </message>
    <message>
        <source>Paused until {time}: this month&apos;s transfer is used up (setting “{setting}”)</source>
        <translation>Pausiert bis {time}: das Datenvolumen dieses Monats ist verbraucht (Einstellung „{setting}“)</translation>
    </message>
    <message>
        <source>Paused: this month&apos;s transfer is used up (setting “{setting}”)</source>
        <translation>Pausiert: das Datenvolumen dieses Monats ist verbraucht (Einstellung „{setting}“)</translation>
    </message>
    <message>
        <source>Reconnecting to the mesh</source>
        <translation>Verbindet sich wieder mit dem Mesh</translation>
    </message>
    <message>
        <source>Serving the mesh</source>
        <translation>Rechnet für das Mesh</translation>
    </message>
    <message>
        <source>Serving layers {layers} of {model} by relay</source>
        <translation>Rechnet die Schichten {layers} von {model} über Relay</translation>
    </message>
    <message>
        <source>Serving layers {layers} of {model} directly</source>
        <translation>Rechnet die Schichten {layers} von {model} direkt</translation>
    </message>
    <message>
        <source>{what}: {amounts}</source>
        <translation>{what}: {amounts}</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>noch {time}</translation>
    </message>
    <message>
        <source>d MMMM</source>
        <comment>how a date is written</comment>
        <translation>d. MMMM</translation>
    </message>
    <message>
        <source>{day}, {time}</source>
        <translation>{day}, {time}</translation>
    </message>
</context>
<context>
    <name>SettingRow</name>
    <message>
        <source>The node restarts.</source>
        <translation>Der Knoten startet neu.</translation>
    </message>
    <message>
        <source>Reset {setting}</source>
        <translation>{setting} zurücksetzen</translation>
    </message>
    <message>
        <source>Back to the default: {value}</source>
        <translation>Zurück zur Vorgabe: {value}</translation>
    </message>
    <message>
        <source>Has no effect while “{setting}” is off.</source>
        <translation>Hat keine Wirkung, solange „{setting}“ aus ist.</translation>
    </message>
    <message>
        <source>The file has a value here that cannot be. {reason}</source>
        <translation>Die Datei hat hier einen Wert, den es nicht geben kann. {reason}</translation>
    </message>
    <message>
        <source>Press Enter to apply. The node restarts.</source>
        <translation>Enter übernimmt. Der Knoten startet neu.</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>every day</source>
        <translation>jeden Tag</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>This did not work. The log says more.</source>
        <translation>Das ging nicht. Das Protokoll sagt mehr.</translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Computer</source>
        <translation>Computer</translation>
    </message>
    <message>
        <source>When to serve</source>
        <translation>Zeiten</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>App</source>
        <translation>App</translation>
    </message>
    <message>
        <source>Tracker</source>
        <translation>Tracker</translation>
    </message>
    <message>
        <source>The mesh to join: its tracker&apos;s address, from its invite.</source>
        <translation>Das Mesh, dem du beitrittst: die Adresse seines Trackers, aus der Einladung.</translation>
    </message>
    <message>
        <source>Relay</source>
        <translation>Relay</translation>
    </message>
    <message>
        <source>The relay by which others reach this computer; from the invite. Without one, only direct hops are possible.</source>
        <translation>Das Relay, über das andere diesen Computer erreichen; aus der Einladung. Ohne eines sind nur direkte Hops möglich.</translation>
    </message>
    <message>
        <source>Display name</source>
        <translation>Anzeigename</translation>
    </message>
    <message>
        <source>What others in the mesh see for this computer. Empty: they see a part of its random id.</source>
        <translation>Was andere im Mesh für diesen Computer sehen. Leer: ein Teil seiner zufälligen Kennung.</translation>
    </message>
    <message>
        <source>A model&apos;s directory, or org/name on the Hub. Empty: the mesh&apos;s own model.</source>
        <translation>Der Ordner eines Modells, oder org/name auf dem Hub. Leer: das Modell des Meshs.</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>Where downloaded models are kept. Empty: the usual place for such files.</source>
        <translation>Wo geholte Modelle aufbewahrt werden. Leer: am üblichen Ort für solche Dateien.</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Which layers to hold: auto chooses those that the mesh needs most and that fit; or a range like 0-14, or all.</source>
        <translation>Welche Schichten: auto wählt die, die das Mesh am meisten braucht und die Platz haben; oder ein Bereich wie 0-14, oder all.</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>Speichergrenze</translation>
    </message>
    <message>
        <source>How much memory the model&apos;s layers and the chats may take together.</source>
        <translation>Wie viel Speicher die Schichten des Modells und die Chats zusammen brauchen dürfen.</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>MB</translation>
    </message>
    <message>
        <source>half of what is free</source>
        <translation>die Hälfte des freien</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>How many processor threads compute.</source>
        <translation>Wie viele Threads des Prozessors rechnen.</translation>
    </message>
    <message>
        <source>all cores</source>
        <translation>alle Kerne</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>What computes. This version uses the processor; graphics cards are not used yet.</source>
        <translation>Was rechnet. Diese Version nimmt den Prozessor; Grafikkarten werden noch nicht benutzt.</translation>
    </message>
    <message>
        <source>Pause on battery</source>
        <translation>Im Akkubetrieb pausieren</translation>
    </message>
    <message>
        <source>Do not serve while this computer runs on battery.</source>
        <translation>Nicht rechnen, solange dieser Computer mit Akku läuft.</translation>
    </message>
    <message>
        <source>Pause below charge</source>
        <translation>Unter Ladestand pausieren</translation>
    </message>
    <message>
        <source>Do not serve while the battery holds less than this, also when plugged in.</source>
        <translation>Nicht rechnen, solange der Akku weniger als das hat, auch am Netz.</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Pause when busy</source>
        <translation>Bei Last pausieren</translation>
    </message>
    <message>
        <source>Do not serve while other programs keep the processor busier than this for a minute.</source>
        <translation>Nicht rechnen, solange andere Programme den Prozessor eine Minute lang stärker beschäftigen.</translation>
    </message>
    <message>
        <source>Only at set times</source>
        <translation>Nur zu festen Zeiten</translation>
    </message>
    <message>
        <source>Serve at these times only.</source>
        <translation>Nur zu diesen Zeiten rechnen.</translation>
    </message>
    <message>
        <source>Days</source>
        <translation>Tage</translation>
    </message>
    <message>
        <source>The days on which to serve.</source>
        <translation>Die Tage, an denen gerechnet wird.</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>When serving begins, like 22:00.</source>
        <translation>Wann es beginnt, wie 22:00.</translation>
    </message>
    <message>
        <source>To</source>
        <translation>Bis</translation>
    </message>
    <message>
        <source>When serving ends; earlier than its beginning means the next morning.</source>
        <translation>Wann es endet; früher als der Beginn heißt am nächsten Morgen.</translation>
    </message>
    <message>
        <source>Monthly transfer</source>
        <translation>Datenvolumen im Monat</translation>
    </message>
    <message>
        <source>Stop serving for the rest of the month after so much has been sent and received.</source>
        <translation>Für den Rest des Monats aufhören, wenn so viel gesendet und empfangen wurde.</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>Direct hops</source>
        <translation>Direkte Hops</translation>
    </message>
    <message>
        <source>Let peers on your network dial this computer, and be dialled where the relay fails. Off: by relay only.</source>
        <translation>Andere in deinem Netz diesen Computer anwählen lassen, und angewählt werden, wo das Relay ausfällt. Aus: nur über Relay.</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>The port for direct hops.</source>
        <translation>Der Port für direkte Hops.</translation>
    </message>
    <message>
        <source>any free one</source>
        <translation>irgendein freier</translation>
    </message>
    <message>
        <source>Bandwidth cap</source>
        <translation>Bandbreite</translation>
    </message>
    <message>
        <source>The most that this node sends and receives for the mesh. Low values make every token slower.</source>
        <translation>Das Meiste, was dieser Knoten für das Mesh sendet und empfängt. Kleine Werte machen jedes Token langsamer.</translation>
    </message>
    <message>
        <source>KB/s</source>
        <translation>KB/s</translation>
    </message>
    <message>
        <source>Start with the computer</source>
        <translation>Mit dem Computer starten</translation>
    </message>
    <message>
        <source>Start meshdesk, in the tray, when you log in.</source>
        <translation>meshdesk im Infobereich starten, wenn du dich anmeldest.</translation>
    </message>
    <message>
        <source>Join at start</source>
        <translation>Beim Start beitreten</translation>
    </message>
    <message>
        <source>Join the mesh as soon as meshdesk starts.</source>
        <translation>Dem Mesh beitreten, sobald meshdesk startet.</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Benachrichtigungen</translation>
    </message>
    <message>
        <source>Tell about outages and faults outside the window.</source>
        <translation>Ausfälle und Fehler auch außerhalb des Fensters melden.</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Light, dark, or as the system has it.</source>
        <translation>Hell, dunkel, oder wie das System.</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>The app&apos;s language.</source>
        <translation>Die Sprache der App.</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>Protokollstufe</translation>
    </message>
    <message>
        <source>How much is written to the log.</source>
        <translation>Wie viel in das Protokoll geschrieben wird.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>English</source>
        <translation>English</translation>
    </message>
    <message>
        <source>Deutsch</source>
        <translation>Deutsch</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>The usual</source>
        <translation>Das Übliche</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>Errors only</source>
        <translation>Nur Fehler</translation>
    </message>
    <message>
        <source>This is not an address. Write it like http://203.0.113.5:7000.</source>
        <translation>Das ist keine Adresse. Schreib sie wie http://203.0.113.5:7000.</translation>
    </message>
    <message>
        <source>This is not an address. Write it like ws://203.0.113.5:7001.</source>
        <translation>Das ist keine Adresse. Schreib sie wie ws://203.0.113.5:7001.</translation>
    </message>
    <message>
        <source>Use letters, digits and signs only.</source>
        <translation>Nimm nur Buchstaben, Ziffern und Zeichen.</translation>
    </message>
    <message>
        <source>Write auto, all, or a range like 0-14.</source>
        <translation>Schreib auto, all, oder einen Bereich wie 0-14.</translation>
    </message>
    <message>
        <source>Write the time like 22:00.</source>
        <translation>Schreib die Zeit wie 22:00.</translation>
    </message>
    <message>
        <source>There is no such time of day.</source>
        <translation>Diese Uhrzeit gibt es nicht.</translation>
    </message>
    <message>
        <source>The settings could not be read, so all are at their defaults. The broken file is kept as {aside}.</source>
        <translation>Die Einstellungen ließen sich nicht lesen, darum gelten überall die Vorgaben. Die kaputte Datei ist als {aside} aufbewahrt.</translation>
    </message>
    <message>
        <source>{file} cannot be read ({reason}), so all settings are at their defaults.</source>
        <translation>{file} ist nicht lesbar ({reason}), darum gelten überall die Vorgaben.</translation>
    </message>
    <message>
        <source>{setting} has a value in {file} that cannot be, so its default is used.</source>
        <translation>{setting} hat in {file} einen Wert, den es nicht geben kann, darum gilt die Vorgabe.</translation>
    </message>
    <message>
        <source>The settings could not be saved ({reason}); they are lost at the next start.</source>
        <translation>Die Einstellungen konnten nicht gespeichert werden ({reason}); beim nächsten Start sind sie verloren.</translation>
    </message>
    <message>
        <source>Give a whole number from {least} to {most}.</source>
        <translation>Gib eine ganze Zahl von {least} bis {most} an.</translation>
    </message>
    <message>
        <source>Give a whole number from {least} to {most} {unit}.</source>
        <translation>Gib eine ganze Zahl von {least} bis {most} {unit} an.</translation>
    </message>
    <message>
        <source>Give at most {most} characters.</source>
        <translation>Gib höchstens {most} Zeichen an.</translation>
    </message>
    <message>
        <source>Choose one of these: {choices}.</source>
        <translation>Wähle eines davon: {choices}.</translation>
    </message>
    <message>
        <source>Choose on or off.</source>
        <translation>Wähle an oder aus.</translation>
    </message>
    <message>
        <source>Give a text.</source>
        <translation>Gib einen Text an.</translation>
    </message>
    <message>
        <source>Choose days of the week.</source>
        <translation>Wähle Wochentage.</translation>
    </message>
    <message>
        <source>There is no such setting.</source>
        <translation>Diese Einstellung gibt es nicht.</translation>
    </message>
</context>
<context>
    <name>SettingsWindow</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>In den Einstellungen suchen</translation>
    </message>
    <message>
        <source>Groups of settings</source>
        <translation>Gruppen der Einstellungen</translation>
    </message>
    <message>
        <source>What is wrong with the settings file</source>
        <translation>Was an der Einstellungsdatei nicht stimmt</translation>
    </message>
    <message>
        <source>Hide this</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>No setting has “{text}” in it.</source>
        <translation>Keine Einstellung enthält „{text}“.</translation>
    </message>
</context>
<context>
    <name>ShardCard</name>
    <message>
        <source>Shard</source>
        <translation>Shard</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>The layers are chosen when you join.</source>
        <translation>Die Schichten werden beim Beitritt gewählt.</translation>
    </message>
    <message>
        <source>{layers} (of {count})</source>
        <translation>{layers} (von {count})</translation>
    </message>
    <message>
        <source>{size} for chats</source>
        <translation>{size} für Chats</translation>
    </message>
    <message>
        <source>Chosen because {reason}.</source>
        <translation>Gewählt, weil {reason}.</translation>
    </message>
</context>
<context>
    <name>SharingPage</name>
    <message>
        <source>What you share, and what others can see</source>
        <translation>Was du teilst, und was andere sehen können</translation>
    </message>
    <message>
        <source>You share</source>
        <translation>Du teilst</translation>
    </message>
    <message>
        <source>Spare processor time and memory, to compute a part of a language model. Nothing else.</source>
        <translation>Freie Rechenzeit und freien Speicher, um einen Teil eines Sprachmodells zu rechnen. Sonst nichts.</translation>
    </message>
    <message>
        <source>Others see</source>
        <translation>Andere sehen</translation>
    </message>
    <message>
        <source>Your display name, and this computer&apos;s address, or only the relay&apos;s if you use one.</source>
        <translation>Deinen Anzeigenamen und die Adresse dieses Computers, oder nur die des Relays, wenn du eines benutzt.</translation>
    </message>
    <message>
        <source>Others could read</source>
        <translation>Andere könnten lesen</translation>
    </message>
    <message>
        <source>What you ask the mesh: it travels through other people&apos;s computers as numbers, and they could be turned back into words. Keep secrets out of your chats.</source>
        <translation>Was du das Mesh fragst: es geht als Zahlen durch die Computer anderer Leute, und daraus ließen sich wieder Worte machen. Behalte Geheimnisse für dich.</translation>
    </message>
    <message>
        <source>Nobody sees</source>
        <translation>Niemand sieht</translation>
    </message>
    <message>
        <source>Your files, your other programs, and what you do when you do not chat with the mesh.</source>
        <translation>Deine Dateien, deine anderen Programme, und was du tust, wenn du nicht mit dem Mesh chattest.</translation>
    </message>
    <message>
        <source>To stop</source>
        <translation>Zum Aufhören</translation>
    </message>
    <message>
        <source>Choose Pause or Leave mesh in the menu of the tray icon, at any time.</source>
        <translation>Wähle jederzeit Pause oder Mesh verlassen im Menü des Symbols im Infobereich.</translation>
    </message>
</context>
<context>
    <name>StepIndicator</name>
    <message>
        <source>Step {step} of {count}</source>
        <translation>Schritt {step} von {count}</translation>
    </message>
</context>
<context>
    <name>StorageRow</name>
    <message>
        <source>Counting…</source>
        <translation>Zählt…</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Open the folder of the models</source>
        <translation>Ordner der Modelle öffnen</translation>
    </message>
    <message>
        <source>Storage: folder, size and free space of the models</source>
        <translation>Speicherplatz: Ordner, Größe und freier Platz der Modelle</translation>
    </message>
    <message>
        <source>Folder of the models: {path}</source>
        <translation>Ordner der Modelle: {path}</translation>
    </message>
    <message>
        <source>{used} used by models, {free} free on this disk</source>
        <translation>{used} von Modellen belegt, {free} auf dieser Platte frei</translation>
    </message>
    <message>
        <source>No models yet. The first one comes when you join a mesh.</source>
        <translation>Noch keine Modelle. Das erste kommt, wenn du einem Mesh beitrittst.</translation>
    </message>
    <message>
        <source>shared with other programs</source>
        <translation>mit anderen Programmen geteilt</translation>
    </message>
    <message>
        <source>made by meshdesk</source>
        <translation>von meshdesk gemacht</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>und eines mehr</numerusform>
            <numerusform>und %n mehr</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TokenDialog</name>
    <message>
        <source>Hugging Face token</source>
        <translation>Hugging-Face-Token</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>{reason} The token can be kept in a file that only you can read: {file}. Programs that you start could read it too.</source>
        <translation>{reason} Das Token kann in einer Datei aufbewahrt werden, die nur du lesen kannst: {file}. Programme, die du startest, könnten es auch lesen.</translation>
    </message>
    <message>
        <source>&amp;Keep it in this file</source>
        <translation>In dieser Datei &amp;behalten</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>Some models are given only to people who have accepted their terms. With a token, meshdesk downloads them in your name. A token that may only read is enough.</source>
        <translation>Manche Modelle gibt es nur für Leute, die ihren Bedingungen zugestimmt haben. Mit einem Token holt meshdesk sie in deinem Namen. Ein Token, das nur lesen darf, genügt.</translation>
    </message>
    <message>
        <source>Make a token on huggingface.co</source>
        <translation>Ein Token auf huggingface.co machen</translation>
    </message>
</context>
<context>
    <name>TokenRow</name>
    <message>
        <source>Hugging Face token</source>
        <translation>Hugging-Face-Token</translation>
    </message>
    <message>
        <source>Set token…</source>
        <translation>Token angeben…</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <source>Forget the Hugging Face token</source>
        <translation>Hugging-Face-Token vergessen</translation>
    </message>
    <message>
        <source>None. Only models that are not open to all need one.</source>
        <translation>Keines. Nur Modelle, die nicht allen offenstehen, brauchen eines.</translation>
    </message>
    <message>
        <source>Given by the environment variable HF_TOKEN, which goes first.</source>
        <translation>Aus der Umgebungsvariable HF_TOKEN, die Vorrang hat.</translation>
    </message>
    <message>
        <source>Kept in this system&apos;s keyring.</source>
        <translation>Im Schlüsselbund dieses Systems aufbewahrt.</translation>
    </message>
    <message>
        <source>Kept in a file that only you can read.</source>
        <translation>In einer Datei aufbewahrt, die nur du lesen kannst.</translation>
    </message>
    <message>
        <source>Replace…</source>
        <translation>Ersetzen…</translation>
    </message>
    <message>
        <source>Replace the Hugging Face token</source>
        <translation>Hugging-Face-Token ersetzen</translation>
    </message>
    <message>
        <source>Set a Hugging Face token</source>
        <translation>Hugging-Face-Token angeben</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>The chat so far</source>
        <translation>Der Chat bisher</translation>
    </message>
    <message>
        <source>Jump to newest</source>
        <translation>Zur neuesten springen</translation>
    </message>
</context>
<context>
    <name>TrayMenu</name>
    <message>
        <source>Leave mesh</source>
        <translation>Mesh verlassen</translation>
    </message>
    <message>
        <source>Join mesh</source>
        <translation>Mesh beitreten</translation>
    </message>
    <message>
        <source>Leave now</source>
        <translation>Jetzt verlassen</translation>
    </message>
    <message>
        <source>Change this setting…</source>
        <translation>Diese Einstellung ändern…</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Open the settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>Open the log</source>
        <translation>Protokoll öffnen</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 Minuten</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 Stunde</translation>
    </message>
    <message>
        <source>Until I resume</source>
        <translation>Bis ich fortsetze</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Check my connection</source>
        <translation>Meine Verbindung prüfen</translation>
    </message>
    <message>
        <source>Export diagnostics…</source>
        <translation>Diagnose exportieren…</translation>
    </message>
    <message>
        <source>About</source>
        <translation>Über meshdesk</translation>
    </message>
    <message>
        <source>Dashboard</source>
        <translation>Übersicht</translation>
    </message>
    <message>
        <source>Try a chat</source>
        <translation>Chat ausprobieren</translation>
    </message>
    <message>
        <source>Logs</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
</context>
<context>
    <name>TrayTooltip</name>
    <message>
        <source>The relay does not answer</source>
        <translation>Das Relay antwortet nicht</translation>
    </message>
    <message>
        <source>meshdesk: {sentence}</source>
        <translation>meshdesk: {sentence}</translation>
    </message>
    <message>
        <source>Since {time}</source>
        <translation>Seit {time}</translation>
    </message>
    <message>
        <source>{address} was lost at {time}: {reason}</source>
        <translation>{address} ging um {time} verloren: {reason}</translation>
    </message>
    <message>
        <source>{address} was lost at {time}</source>
        <translation>{address} ging um {time} verloren</translation>
    </message>
</context>
<context>
    <name>TurnView</name>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <source>Waiting for the first word…</source>
        <translation>Wartet auf das erste Wort…</translation>
    </message>
    <message>
        <source>Answering · {tokens}</source>
        <translation>Antwortet · {tokens}</translation>
    </message>
    <message>
        <source>The mesh answered with nothing.</source>
        <translation>Das Mesh hat mit nichts geantwortet.</translation>
    </message>
    <message>
        <source>broken off</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Copy details</source>
        <translation>Einzelheiten kopieren</translation>
    </message>
</context>
<context>
    <name>Way</name>
    <message>
        <source>this computer</source>
        <translation>dieser Computer</translation>
    </message>
    <message>
        <source>direct</source>
        <translation>direkt</translation>
    </message>
    <message>
        <source>relay</source>
        <translation>Relay</translation>
    </message>
    <message>
        <source>direct (relay failed)</source>
        <translation>direkt (Relay ausgefallen)</translation>
    </message>
    <message>
        <source>served here</source>
        <translation>hier gerechnet</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
</context>
</TS>
